// Reading the files of a folder of histories.
//
//   ShardReader reader(folder, index);
//   absl::Status status = reader.ReadHistories(3, [&](HistoryExample& example) { ... });
//
// Thread-safe.
#pragma once
#include <filesystem>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "training/shards/history_example.h"
#include "training/shards/shard_files.h"
#include "waymark/storage/examples.pb.h"

namespace waymark {

class ShardReader {
 public:
  // keys: of sealed shards, else null.
  ShardReader(std::filesystem::path folder, const storage::ExamplesIndex* index,
              const ShardKeys* keys = nullptr)
      : files_(std::move(folder), index->compression(), {index->has_sealing(), index->kind(), keys}),
        index_(index) {}
  // DATA_LOSS names the file and the record; NOT_FOUND a file that is missing.
  absl::Status ReadHistories(int file, const std::function<void(HistoryExample&)>& visit) const;
  absl::StatusOr<std::vector<ItemRecord>> ReadItems() const;
  // Files read so far, and their bytes on the disk.
  int64_t files_read() const { return files_.files_read(); }
  int64_t bytes_read() const { return files_.bytes_read(); }

 private:
  ShardFiles files_;
  const storage::ExamplesIndex* index_;
};

}  // namespace waymark
