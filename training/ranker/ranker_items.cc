#include "training/ranker/ranker_items.h"

#include <algorithm>

#include "rank/network/ranker_item_vectors.h"

namespace waymark {

RankerItems::RankerItems(const RankingLists& train, const RankingLists& validation,
                         const ItemDirectory& directory, const RankerItemsOptions& options) {
  std::vector<ItemOrdinal> ordinals;
  NumberItemsOf(train, &ordinals);
  NumberItemsOf(validation, &ordinals);
  ChooseVocabulary(train, ordinals, directory, options.min_count);
  ReadContent(ordinals, directory, options.content_buckets);
  if (buckets_.empty()) content_buckets_ = 0;
}

RankerItems::RankerItems(const RankingLists& lists, const std::vector<std::string>& vocabulary,
                         const ItemDirectory& directory, int64_t content_buckets)
    : vocabulary_(vocabulary) {
  std::vector<ItemOrdinal> ordinals;
  NumberItemsOf(lists, &ordinals);
  vocabulary_row_.assign(ordinals.size(), -1);
  for (size_t row = 0; row < vocabulary.size(); ++row) {
    const auto item = directory.Find(vocabulary[row]);
    if (!item) continue;
    if (const auto found = numbers_.find(*item); found != numbers_.end()) {
      vocabulary_row_[found->second] = static_cast<int64_t>(row);
    }
  }
  ReadContent(ordinals, directory, content_buckets);
}

RankerItems::RankerItems(const std::vector<Known>& items, const RankerItemsOptions& options)
    : content_buckets_(options.content_buckets) {
  bucket_starts_.push_back(0);
  for (const Known& known : items) {
    numbers_.try_emplace(known.item, static_cast<uint32_t>(numbers_.size()));
    const bool chosen = known.count >= options.min_count && known.item != kNoItem;
    vocabulary_row_.push_back(chosen ? static_cast<int64_t>(vocabulary_.size()) : -1);
    if (chosen) vocabulary_.push_back(known.id);
    AddBuckets(known.content, options.content_buckets);
  }
  if (buckets_.empty()) content_buckets_ = 0;
}

void RankerItems::ReadContent(const std::vector<ItemOrdinal>& ordinals, const ItemDirectory& directory,
                              int64_t content_buckets) {
  constexpr size_t kChunk = 4096;
  content_buckets_ = content_buckets;
  std::vector<std::vector<uint64_t>> hashes;
  bucket_starts_.push_back(0);
  for (size_t first = 0; first < ordinals.size(); first += kChunk) {
    const auto chunk = absl::MakeConstSpan(ordinals).subspan(first, kChunk);
    hashes.clear();
    if (content_buckets > 0) directory.Content(chunk, &hashes);
    for (size_t i = 0; i < chunk.size(); ++i) {
      AddBuckets(i < hashes.size() ? absl::MakeConstSpan(hashes[i]) : absl::Span<const uint64_t>(),
                 content_buckets);
    }
  }
}

void RankerItems::AddBuckets(absl::Span<const uint64_t> hashes, int64_t content_buckets) {
  if (content_buckets > 0) {
    for (uint64_t hash : hashes.first(std::min(hashes.size(), kRankerContentHashes))) {
      buckets_.push_back(static_cast<int64_t>(hash % static_cast<uint64_t>(content_buckets)));
    }
  }
  bucket_starts_.push_back(buckets_.size());
}

void RankerItems::NumberItemsOf(const RankingLists& lists, std::vector<ItemOrdinal>* ordinals) {
  auto number = [&](absl::Span<const ItemOrdinal> items) {
    for (ItemOrdinal item : items) {
      if (numbers_.try_emplace(item, static_cast<uint32_t>(numbers_.size())).second)
        ordinals->push_back(item);
    }
  };
  for (size_t i = 0; i < lists.size(); ++i) {
    number(lists[i].candidates);
    number(lists[i].history);
  }
}

void RankerItems::ChooseVocabulary(const RankingLists& train, const std::vector<ItemOrdinal>& ordinals,
                                   const ItemDirectory& directory, int min_count) {
  // Being a candidate that was not taken is no reason for a row: it would only learn how popular the item is.
  std::vector<int> counts(ordinals.size(), 0);
  for (size_t i = 0; i < train.size(); ++i) {
    const RankingList list = train[i];
    for (ItemOrdinal item : list.history) ++counts[numbers_.at(item)];
    for (size_t c = 0; c < list.candidates.size(); ++c) {
      if (list.gains[c] > 0) ++counts[numbers_.at(list.candidates[c])];
    }
  }
  vocabulary_row_.assign(ordinals.size(), -1);
  std::vector<ItemOrdinal> chosen;
  for (size_t n = 0; n < ordinals.size(); ++n) {
    if (counts[n] < min_count || ordinals[n] == kNoItem) continue;
    vocabulary_row_[n] = static_cast<int64_t>(chosen.size());
    chosen.push_back(ordinals[n]);
  }
  vocabulary_ = directory.Ids(chosen);
}

}  // namespace waymark
