// The best of many scored items, by score, ties by ordinal, with the score that the next one needs.
//
// For few items a heap of them gives the exact score of the last; for many, counts of scores by their upper
// bits do, a little lower, at a cost of a few instructions an item whatever their number.
//
// Not thread-safe.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "index/bm25.h"
#include "store/ids.h"

namespace waymark {

class TopScores {
 public:
  explicit TopScores(size_t limit);

  void Offer(FixedScore score, ItemOrdinal item) {
    if (by_counts_) {
      OfferToCounts(score, item);
    } else {
      OfferToHeap(score, item);
    }
  }
  // What an item needs to score to be among the best so far, if its ordinal is at least `first`; 0 as long as
  // any does.
  FixedScore NeededFrom(ItemOrdinal first) const {
    return needed_ > 0 && first > last_item_ ? needed_ + 1 : needed_;
  }

  size_t limit() const { return limit_; }
  // A score that at least `rank` of the items so far reach, as great as is known; 0: there are not as many.
  FixedScore ScoreOfRank(size_t rank) const;

  // Best first. Leaves nothing behind.
  std::vector<std::pair<FixedScore, ItemOrdinal>> Take();

 private:
  // Greater is better.
  static uint64_t Key(FixedScore score, ItemOrdinal item) {
    return uint64_t{static_cast<uint32_t>(score)} << 32 | static_cast<uint32_t>(~item);
  }
  void OfferToHeap(FixedScore score, ItemOrdinal item);
  void OfferToCounts(FixedScore score, ItemOrdinal item);

  const size_t limit_;
  const bool by_counts_;
  std::vector<uint64_t> keys_;  // of a heap: the worst on top
  FixedScore needed_ = 0;
  ItemOrdinal last_item_ = kNoItem;  // of what would fall out; kNoItem: not known
  std::vector<uint32_t> counts_;     // [score >> kCountedShift]
  size_t floor_ = 0, above_ = 0;     // entries of counts_ from floor_ on add up to above_
  size_t compact_at_ = 0;
};

}  // namespace waymark
