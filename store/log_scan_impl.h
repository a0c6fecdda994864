// Whether a log of RocksDB goes on behind damage. RocksDB's own reader passes over the rest of a block of 32
// KB, so it cannot tell a write that was cut off at the end from damage before writes that were answered.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "absl/status/statusor.h"

namespace waymark {

// Writes that begin behind the first place that is not as it was written. (Format: rocksdb/db/log_format.h;
// blocks of 32 KB, records of checksum, length, type and bytes, a write in one or several of them.)
int64_t CountWritesBehindDamage(std::string_view log);

// Of all logs (*.log) of the folder.
absl::StatusOr<int64_t> CountWritesBehindDamage(const std::filesystem::path& folder);

}  // namespace waymark
