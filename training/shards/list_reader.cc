#include "training/shards/list_reader.h"

#include "absl/strings/str_cat.h"

namespace waymark {

absl::Status ListReader::ReadLists(const storage::ExamplesIndex::File& file,
                                   const std::function<absl::Status(const RankingList&)>& visit) const {
  ListExample list;
  const auto columns = static_cast<size_t>(index_->features_size());
  return files_.ReadUserRecords(file, [&](std::string_view record) {
    absl::Status status = ParseList(record, columns, index_->item_end(), &list);
    return status.ok() ? visit(list.View()) : status;
  });
}

absl::StatusOr<std::vector<RankerItems::Known>> ListReader::ReadItems() const {
  std::vector<RankerItems::Known> items;
  absl::Status status = files_.ReadRecords(index_->items(), [&](std::string_view record) {
    return ParseListItem(record, index_->item_end(), &items.emplace_back());
  });
  if (!status.ok()) return status;
  if (static_cast<int64_t>(items.size()) != index_->item_count()) {
    return absl::DataLossError(absl::StrCat("the shard ", (files_.folder() / index_->items().name()).string(),
                                            " has ", items.size(), " items, the index says ",
                                            index_->item_count()));
  }
  return items;
}

}  // namespace waymark
