// The files of a folder of shards, of whatever their records are. Every file is checked against the index's
// size and hash before a byte of it is believed, and every record against its checksum.
//
//   const ShardFiles files(folder, index.compression());
//   absl::Status status = files.ReadRecords(index.files(3), [&](std::string_view record) { ... });
//
// Thread-safe.
#pragma once
#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "waymark/storage/examples.pb.h"

namespace waymark {

class ShardFiles {
 public:
  ShardFiles(std::filesystem::path folder, std::string compression)
      : folder_(std::move(folder)), compression_(std::move(compression)) {}
  // DATA_LOSS names the file and the record; NOT_FOUND a file that is missing. What `visit` answers is told
  // with the place.
  absl::Status ReadRecords(const storage::ExamplesIndex::File& file,
                           const std::function<absl::Status(std::string_view)>& visit) const;
  const std::filesystem::path& folder() const { return folder_; }
  // Files read so far, and their bytes on the disk.
  int64_t files_read() const { return files_read_; }
  int64_t bytes_read() const { return bytes_read_; }

 private:
  std::filesystem::path folder_;
  std::string compression_;
  mutable std::atomic<int64_t> files_read_{0}, bytes_read_{0};
};

}  // namespace waymark
