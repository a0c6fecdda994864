#include "training/shards/shard_reader.h"

#include "absl/strings/str_cat.h"

namespace waymark {

absl::Status ShardReader::ReadHistories(int file, const std::function<void(HistoryExample&)>& visit) const {
  HistoryExample example;
  return files_.ReadUserRecords(index_->files(file), [&](std::string_view record) {
    absl::Status status = ParseHistory(record, index_->item_count(), &example);
    if (status.ok()) visit(example);
    return status;
  });
}

absl::StatusOr<std::vector<ItemRecord>> ShardReader::ReadItems() const {
  std::vector<ItemRecord> items;
  absl::Status status = files_.ReadRecords(
      index_->items(), [&](std::string_view record) { return ParseItem(record, &items.emplace_back()); });
  if (!status.ok()) return status;
  if (static_cast<int64_t>(items.size()) != index_->item_count()) {
    return absl::DataLossError(absl::StrCat("the shard ", (files_.folder() / index_->items().name()).string(),
                                            " has ", items.size(), " items, the index says ",
                                            index_->item_count()));
  }
  return items;
}

}  // namespace waymark
