// Reading the files of a folder of shards. Every file is checked against the index's size and hash before a
// byte of it is believed, and every record against its checksum.
//
//   ShardReader reader(folder, index);
//   absl::Status status = reader.ReadHistories(3, [&](HistoryExample& example) { ... });
//
// Thread-safe.
#pragma once
#include <atomic>
#include <filesystem>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "training/shards/history_example.h"
#include "waymark/storage/examples.pb.h"

namespace waymark {

class ShardReader {
 public:
  ShardReader(std::filesystem::path folder, const storage::ExamplesIndex* index)
      : folder_(std::move(folder)), index_(index) {}
  // DATA_LOSS names the file and the record; NOT_FOUND a file that is missing.
  absl::Status ReadHistories(int file, const std::function<void(HistoryExample&)>& visit) const;
  absl::StatusOr<std::vector<ItemRecord>> ReadItems() const;
  // Files read so far, and their bytes on the disk.
  int64_t files_read() const { return files_read_; }
  int64_t bytes_read() const { return bytes_read_; }

 private:
  absl::Status ReadRecords(const storage::ExamplesIndex::File& file,
                           const std::function<absl::Status(std::string_view)>& visit) const;

  std::filesystem::path folder_;
  const storage::ExamplesIndex* index_;
  mutable std::atomic<int64_t> files_read_{0}, bytes_read_{0};
};

}  // namespace waymark
