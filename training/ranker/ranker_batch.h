// Some ranking lists as tensors, padded to the longest. Items, content buckets and query words are gathered
// as distinct rows first, so that a step touches no more of the large tables than the batch names.
#pragma once
#include <torch/torch.h>

#include "rank/network/ranker_config.h"
#include "training/ranker/ranker_items.h"
#include "training/ranker/ranking_lists.h"

namespace waymark {

struct RankerBatch {
  torch::Tensor features;          // [lists, candidates, features], 0 where padded
  torch::Tensor gains;             // [lists, candidates], each list sums to 1
  torch::Tensor valid;             // [lists, candidates] bool
  torch::Tensor candidates;        // [lists, candidates] int64: rows of the batch's distinct items
  torch::Tensor history;           // [lists, length] int64, the same; length may be 0
  torch::Tensor types;             // [lists, length] int64: slots
  torch::Tensor history_valid;     // [lists, length] bool
  torch::Tensor words;             // [lists, words] int64: rows of the batch's distinct query buckets
  torch::Tensor words_valid;       // [lists, words] bool
  int64_t items = 0;               // distinct ones
  torch::Tensor vocabulary_rows;   // [those with a row] of the vocabulary, distinct
  torch::Tensor vocabulary_items;  // the item that each belongs to
  torch::Tensor content_rows;      // [distinct buckets]
  torch::Tensor bag, bag_starts;   // of each item: places in content_rows
  torch::Tensor bag_scale;         // [items, 1] 1 / sqrt(hashes)
  torch::Tensor word_rows;         // [distinct query buckets]
};

// Makes batches; holds scratch of the size of the tables. Not thread-safe.
class RankerBatcher {
 public:
  RankerBatcher(const RankerConfig& config, const RankerItems* items);
  RankerBatch Make(const RankingLists& lists, absl::Span<const size_t> chosen);

 private:
  // Gives each distinct key a place, in order of first appearance.
  class Places {
   public:
    explicit Places(size_t keys) : place_(keys, -1) {}
    int64_t Of(size_t key);
    void Clear();
    const std::vector<int64_t>& keys() const { return keys_; }

   private:
    std::vector<int64_t> place_, keys_;
  };
  void FillContent(RankerBatch* batch);

  const RankerConfig config_;
  const RankerItems* const items_;
  Places item_places_, bucket_places_, word_places_;
};

}  // namespace waymark
