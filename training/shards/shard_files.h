// The files of a folder of shards, of whatever their records are. Every file is checked against the index's
// size and hash before a byte of it is believed, and every record against its checksum.
//
//   const ShardFiles files(folder, index.compression());
//   absl::Status status = files.ReadRecords(index.files(3), [&](std::string_view record) { ... });
//
// Records of users may be sealed (record_seal.h): they are opened by the keys, and those of users that were
// erased since are passed over, as many as the file's `erased` says.
//
// Thread-safe.
#pragma once
#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "training/shards/key_bundle.h"
#include "waymark/storage/examples.pb.h"

namespace waymark {

struct ShardSeal {
  bool sealed = false;
  std::string kind;                 // of the shards
  const ShardKeys* keys = nullptr;  // null: none
};

class ShardFiles {
 public:
  ShardFiles(std::filesystem::path folder, std::string compression, ShardSeal seal = {})
      : folder_(std::move(folder)), compression_(std::move(compression)), seal_(std::move(seal)) {}
  // DATA_LOSS names the file and the record; NOT_FOUND a file that is missing. What `visit` answers is told
  // with the place.
  absl::Status ReadRecords(const storage::ExamplesIndex::File& file,
                           const std::function<absl::Status(std::string_view)>& visit) const;
  // The same of a file whose records are users'. FAILED_PRECONDITION: they are sealed, and there are no keys.
  absl::Status ReadUserRecords(const storage::ExamplesIndex::File& file,
                               const std::function<absl::Status(std::string_view)>& visit) const;
  const std::filesystem::path& folder() const { return folder_; }
  // Files read so far, and their bytes on the disk.
  int64_t files_read() const { return files_read_; }
  int64_t bytes_read() const { return bytes_read_; }

 private:
  std::filesystem::path folder_;
  std::string compression_;
  ShardSeal seal_;
  mutable std::atomic<int64_t> files_read_{0}, bytes_read_{0};
};

}  // namespace waymark
