// The best of many scored items, by score, ties by ordinal.
//
// Not thread-safe.
#pragma once
#include <algorithm>
#include <vector>

#include "candidates/candidate.h"

namespace waymark {

class TopItems {
 public:
  explicit TopItems(size_t limit) : limit_(limit) {}

  void Offer(ScoredItem item) {
    if (heap_.size() < limit_) {
      heap_.push_back(item);
      std::push_heap(heap_.begin(), heap_.end(), Better);
    } else if (limit_ > 0 && Better(item, heap_.front())) {
      std::pop_heap(heap_.begin(), heap_.end(), Better);
      heap_.back() = item;
      std::push_heap(heap_.begin(), heap_.end(), Better);
    }
  }
  // Best first. Leaves nothing behind.
  std::vector<ScoredItem> Take() {
    std::sort_heap(heap_.begin(), heap_.end(), Better);
    return std::move(heap_);
  }

 private:
  static bool Better(const ScoredItem& a, const ScoredItem& b) {
    return a.score != b.score ? a.score > b.score : a.item < b.item;
  }
  size_t limit_;
  std::vector<ScoredItem> heap_;  // the worst on top
};

}  // namespace waymark
