// The items of a set of ranking lists, numbered from 0, with what the ranker's vectors are made from: a row
// of the vocabulary for those that were taken or are in histories often enough, and the buckets of their
// content.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "candidates/item_directory.h"
#include "training/ranker/ranking_lists.h"

namespace waymark {

struct RankerItemsOptions {
  int min_count = 2;  // lists that took an item or have it in their history, to give it a row
  int64_t content_buckets = 1 << 14;
};

class RankerItems {
 public:
  // `train` decides on the vocabulary; `validation` adds items without rows.
  RankerItems(const RankingLists& train, const RankingLists& validation, const ItemDirectory& directory,
              const RankerItemsOptions& options);
  // With the vocabulary of a trained ranker.
  RankerItems(const RankingLists& lists, const std::vector<std::string>& vocabulary,
              const ItemDirectory& directory, int64_t content_buckets);

  // As shards of lists say them, in this order: who they are, how many training lists took each or have it in
  // their history, and their content (hashes).
  struct Known {
    ItemOrdinal item = kNoItem;
    std::string id;
    int64_t count = 0;
    std::vector<uint64_t> content;
  };
  RankerItems(const std::vector<Known>& items, const RankerItemsOptions& options);

  size_t size() const { return vocabulary_row_.size(); }
  uint32_t Number(ItemOrdinal item) const { return numbers_.at(item); }
  // -1: none.
  int64_t VocabularyRow(uint32_t number) const { return vocabulary_row_[number]; }
  absl::Span<const int64_t> ContentBuckets(uint32_t number) const {
    return absl::MakeConstSpan(buckets_).subspan(bucket_starts_[number],
                                                 bucket_starts_[number + 1] - bucket_starts_[number]);
  }
  // Ids by vocabulary row.
  const std::vector<std::string>& vocabulary() const { return vocabulary_; }
  // 0 when no item has content: the table is left out.
  int64_t content_buckets() const { return content_buckets_; }

 private:
  void NumberItemsOf(const RankingLists& lists, std::vector<ItemOrdinal>* ordinals);
  void ChooseVocabulary(const RankingLists& train, const std::vector<ItemOrdinal>& ordinals,
                        const ItemDirectory& directory, int min_count);
  void ReadContent(const std::vector<ItemOrdinal>& ordinals, const ItemDirectory& directory,
                   int64_t content_buckets);
  void AddBuckets(absl::Span<const uint64_t> hashes, int64_t content_buckets);

  absl::flat_hash_map<ItemOrdinal, uint32_t> numbers_;
  std::vector<int64_t> vocabulary_row_;
  std::vector<std::string> vocabulary_;
  std::vector<uint64_t> bucket_starts_;
  std::vector<int64_t> buckets_;
  int64_t content_buckets_ = 0;
};

}  // namespace waymark
