// Which items hold a number, by value, so that a range that keeps few items is answered without looking at
// all of them. Fields with few distinct values (years, ratings, flags) have one bitmap a value; past 4,096
// values (prices, times) it is one sorted set of (value, item).
//
// Not thread-safe; belongs to a NumberColumn.
#pragma once
#include <optional>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "catalog/item_set_impl.h"

namespace waymark {

class ValueIndex {
 public:
  static constexpr size_t kMostBitmaps = 4096;

  void Add(double value, ItemOrdinal item);
  void Remove(double value, ItemOrdinal item);

  // How many (value, item) pairs lie in [lowest, highest], counted no further than a little past `limit`.
  size_t Count(double lowest, double highest, size_t limit) const;
  // The items there; none when gathering them costs more than looking at `scan` values of a dense column.
  std::optional<Bitmap> Within(double lowest, double highest, size_t scan) const;

  bool sorted() const { return sorted_pairs_; }
  bool Contains(double value, ItemOrdinal item) const;
  size_t size() const;  // pairs
  bool empty() const { return by_value_.empty() && pairs_.empty(); }
  double smallest() const { return by_value_.empty() ? pairs_.begin()->first : by_value_.begin()->first; }
  double largest() const { return by_value_.empty() ? pairs_.rbegin()->first : by_value_.rbegin()->first; }

 private:
  bool sorted_pairs_ = false;
  absl::btree_map<double, Bitmap> by_value_;
  absl::btree_set<std::pair<double, ItemOrdinal>> pairs_;
};

}  // namespace waymark
