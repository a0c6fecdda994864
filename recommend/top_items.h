// The best `limit` of many scored items: best first, ties by ordinal, which makes answers repeatable.
//
//   TopItems top(100);
//   top.Offer(item, score);
//   std::vector<ScoredItem> best = top.Take();
#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include "candidates/candidate.h"

namespace waymark {

inline bool BetterItem(const ScoredItem& a, const ScoredItem& b) {
  return a.score != b.score ? a.score > b.score : a.item < b.item;
}

class TopItems {
 public:
  explicit TopItems(size_t limit) : limit_(limit) {}

  void Offer(ItemOrdinal item, float score) {
    if (limit_ == 0) return;
    const ScoredItem offered{item, score};
    if (heap_.size() < limit_) {
      heap_.push_back(offered);
      std::push_heap(heap_.begin(), heap_.end(), BetterItem);
    } else if (BetterItem(offered, heap_.front())) {
      std::pop_heap(heap_.begin(), heap_.end(), BetterItem);
      heap_.back() = offered;
      std::push_heap(heap_.begin(), heap_.end(), BetterItem);
    }
  }
  // Scores below this cannot enter any more.
  float threshold() const {
    return heap_.size() < limit_ ? -std::numeric_limits<float>::infinity() : heap_.front().score;
  }
  std::vector<ScoredItem> Take() {
    std::sort(heap_.begin(), heap_.end(), BetterItem);
    return std::move(heap_);
  }

 private:
  size_t limit_;
  std::vector<ScoredItem> heap_;  // the worst in front
};

}  // namespace waymark
