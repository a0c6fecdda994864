// Reading a folder of shards of ranking lists.
//
//   const ListReader reader(folder, &index);
//   absl::Status status = reader.ReadLists(index.files(3), [&](const RankingList& list) { ... });
//
// Thread-safe.
#pragma once
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "training/shards/list_example.h"
#include "training/shards/shard_files.h"
#include "waymark/storage/lists.pb.h"

namespace waymark {

class ListReader {
 public:
  // keys: of sealed shards, else null.
  ListReader(std::filesystem::path folder, const storage::ListsIndex* index, const ShardKeys* keys = nullptr)
      : files_(std::move(folder), index->compression(), {index->has_sealing(), index->kind(), keys}),
        index_(index) {}
  // The list is a view, until `visit` returns. DATA_LOSS names the file and the record; NOT_FOUND a file that
  // is missing.
  absl::Status ReadLists(const storage::ExamplesIndex::File& file,
                         const std::function<absl::Status(const RankingList&)>& visit) const;
  absl::StatusOr<std::vector<RankerItems::Known>> ReadItems() const;
  int64_t bytes_read() const { return files_.bytes_read(); }

 private:
  ShardFiles files_;
  const storage::ListsIndex* index_;
};

}  // namespace waymark
