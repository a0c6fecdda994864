// A folder of shards of ranking lists, as an export would write it, from lists in memory.
#pragma once
#include <cmath>
#include <map>
#include <string>

#include "absl/strings/str_format.h"
#include "candidates/item_directory.h"
#include "rank/feature_table.h"
#include "tests/shards/written_shards.h"
#include "training/shards/list_example.h"
#include "training/shards/lists_index.h"

namespace waymark::tests {

inline constexpr uint64_t kFirstListUser = 1000;  // list i is of the user kFirstListUser + i

// List i goes to file i % files.
inline std::vector<storage::ExamplesIndex::File> WriteListFiles(const std::filesystem::path& folder,
                                                                const std::string& begins, int files,
                                                                const RankingLists& lists,
                                                                const WrittenBy& by) {
  std::vector<storage::ExamplesIndex::File> written;
  for (int f = 0; f < files; ++f) {
    std::string raw;
    int64_t count = 0;
    for (size_t i = static_cast<size_t>(f); i < lists.size(); i += static_cast<size_t>(files)) {
      RankingList list = lists[i];
      list.user = kFirstListUser + i;
      if (by.left_out.contains(list.user)) continue;
      (void)AppendUserRecord({kLists, by.packing}, by.keys, list.user, PrintList(list), &raw);
      ++count;
    }
    written.push_back(WriteShardFile(folder,
                                     absl::StrFormat("%s-%05d-of-%05d.tfrecord.zst", begins, f, files),
                                     ShardPacking::kZstd, raw, count));
  }
  return written;
}

// Of the retriever with the hash `retriever`.
inline storage::ListsIndex WriteListShards(const std::filesystem::path& folder, int files,
                                           const RankingLists& train, const RankingLists& validation,
                                           const ItemDirectory& directory,
                                           const std::string& retriever = std::string(64, 'a'),
                                           const WrittenBy& by = {}) {
  storage::ListsIndex index;
  index.set_kind(kLists);
  index.set_compression("zstd");
  const FeatureTable& table = FeatureTable::Current();
  for (const std::string& name : table.Names()) index.add_features(name);
  index.set_features_sha256(table.sha256());
  index.set_record_sha256(ListRecordSha256());
  for (auto& file : WriteListFiles(folder, "lists", files, train, by)) {
    index.set_lists(index.lists() + file.examples());
    *index.add_files() = file;
  }
  for (auto& file : WriteListFiles(folder, "validation", files, validation, by)) {
    index.set_validation_lists(index.validation_lists() + file.examples());
    *index.add_validation() = file;
  }
  index.set_lists_with_query(train.with_query());
  index.set_retriever_version("r1");
  index.set_retriever_sha256(retriever);
  index.set_signals_retriever_sha256(std::string(64, 'b'));
  index.set_first_time("2020-01-01T00:00:00+00:00");
  index.set_last_time("2021-01-01T00:00:00+00:00");
  index.set_item_end(directory.End());
  const auto columns = static_cast<int>(train.feature_count());
  for (int c = 0; c < columns; ++c) {
    double sum = 0, squares = 0, rows = 0;
    for (size_t i = 0; i < train.size(); ++i) {
      for (size_t at = static_cast<size_t>(c); at < train[i].features.size(); at += columns) {
        sum += train[i].features[at];
        squares += double{train[i].features[at]} * train[i].features[at];
        ++rows;
      }
    }
    const double mean = sum / rows, deviation = std::sqrt(std::max(0.0, squares / rows - mean * mean));
    index.add_feature_mean(mean);
    index.add_feature_scale(deviation > 1e-4 ? deviation : 1);
  }
  std::map<ItemOrdinal, int64_t> counts;
  for (const RankingLists* lists : {&train, &validation}) {
    const int64_t one = lists == &train ? 1 : 0;
    for (size_t i = 0; i < lists->size(); ++i) {
      const RankingList list = (*lists)[i];
      for (ItemOrdinal item : list.history) counts[item] += one;
      for (size_t c = 0; c < list.candidates.size(); ++c) {
        counts[list.candidates[c]] += list.gains[c] > 0 ? one : 0;
      }
    }
  }
  std::string raw;
  for (const auto& [item, count] : counts) {
    std::vector<std::vector<uint64_t>> content;
    directory.Content({&item, 1}, &content);
    AppendRecord(PrintListItem({item, directory.Ids({&item, 1})[0], count, content[0]}), &raw);
  }
  *index.mutable_items() = WriteShardFile(folder, "items.tfrecord.zst", ShardPacking::kZstd, raw,
                                          static_cast<int64_t>(counts.size()));
  index.set_item_count(static_cast<int64_t>(counts.size()));
  if (by.keys != nullptr) SealIndex(index.mutable_sealing());
  (void)WriteListsIndex(folder, index);
  index.set_format(by.keys != nullptr ? kSealedFormat : kPlainFormat);
  return index;
}

}  // namespace waymark::tests
