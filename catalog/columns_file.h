// The file of a column checkpoint.
//
//   "WMCOLUMN"  u32 version  u32 blocks  u64 XXH3 of the 16 bytes before
//   block: u64 length  u64 XXH3 (seed: the block's number) of the bytes  bytes
//
// Little-endian. Block 0 holds the store's epoch, the log offset that the columns have reached and the
// schema; the others hold the parts of ItemColumns. A part may be newer than the offset says: changes are
// replayed after it, and end with the same values.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "store/ids.h"
#include "waymark/storage/records.pb.h"

namespace waymark {

struct ColumnsHeader {
  uint64_t epoch = 0;
  LogOffset position = 0;
  storage::SchemaRecord schema;
};

// Writes beside `file`, syncs, renames. `write_part` appends a part's bytes; its error is returned.
absl::Status WriteColumnsFile(const std::filesystem::path& file, const ColumnsHeader& header, size_t parts,
                              absl::FunctionRef<absl::Status(size_t part, std::string* out)> write_part);

// Calls `start` with the header, then `part` for each part in order; stops at the first error of theirs.
// NOT_FOUND: no such file. DATA_LOSS: it is damaged (says where). UNIMPLEMENTED: a newer version's.
absl::Status ReadColumnsFile(const std::filesystem::path& file,
                             absl::FunctionRef<absl::Status(const ColumnsHeader& header, size_t parts)> start,
                             absl::FunctionRef<absl::Status(size_t part, std::string_view bytes)> part);

}  // namespace waymark
