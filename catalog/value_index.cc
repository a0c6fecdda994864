#include "catalog/value_index.h"

#include <algorithm>
#include <vector>

namespace waymark {
namespace {

// Measured (catalog_test "[bench]") in looks at one value of a dense column, .4 ns each: stepping to a pair
// of the sorted set and adding it to a bitmap; taking up another value's bitmap in a union, and each item of
// it.
constexpr size_t kPairCost = 64;
constexpr size_t kBitmapCost = 64, kBitmapItemCost = 2;

}  // namespace

void ValueIndex::Add(double value, ItemOrdinal item) {
  if (sorted_pairs_) {
    pairs_.emplace(value, item);
    return;
  }
  by_value_[value].add(item);
  if (by_value_.size() <= kMostBitmaps) return;
  sorted_pairs_ = true;
  for (const auto& [held, items] : by_value_) {
    for (const ItemOrdinal other : items) pairs_.emplace(held, other);
  }
  by_value_.clear();
}

void ValueIndex::Remove(double value, ItemOrdinal item) {
  if (sorted_pairs_) {
    pairs_.erase({value, item});
    return;
  }
  const auto found = by_value_.find(value);
  if (found == by_value_.end()) return;
  found->second.remove(item);
  if (found->second.isEmpty()) by_value_.erase(found);
}

bool ValueIndex::Contains(double value, ItemOrdinal item) const {
  if (sorted_pairs_) return pairs_.contains({value, item});
  const auto found = by_value_.find(value);
  return found != by_value_.end() && found->second.contains(item);
}

size_t ValueIndex::size() const {
  if (sorted_pairs_) return pairs_.size();
  size_t pairs = 0;
  for (const auto& [value, items] : by_value_) pairs += items.cardinality();
  return pairs;
}

size_t ValueIndex::Count(double lowest, double highest, size_t limit) const {
  size_t count = 0;
  if (sorted_pairs_) {
    for (auto at = pairs_.lower_bound({lowest, 0});
         at != pairs_.end() && at->first <= highest && count <= limit; ++at) {
      ++count;
    }
    return count;
  }
  for (auto at = by_value_.lower_bound(lowest);
       at != by_value_.end() && at->first <= highest && count <= limit; ++at) {
    count += at->second.cardinality();
  }
  return count;
}

std::optional<Bitmap> ValueIndex::Within(double lowest, double highest, size_t scan) const {
  if (sorted_pairs_) {
    std::vector<uint32_t> items;
    for (auto at = pairs_.lower_bound({lowest, 0}); at != pairs_.end() && at->first <= highest; ++at) {
      if (items.size() * kPairCost > scan) return std::nullopt;
      items.push_back(at->second);
    }
    std::sort(items.begin(), items.end());
    return Bitmap(items.size(), items.data());
  }
  std::vector<const Bitmap*> bitmaps;
  size_t cost = 0;
  for (auto at = by_value_.lower_bound(lowest); at != by_value_.end() && at->first <= highest; ++at) {
    cost += kBitmapCost + kBitmapItemCost * at->second.cardinality();
    if (!bitmaps.empty() && cost > scan + kBitmapCost) return std::nullopt;
    bitmaps.push_back(&at->second);
  }
  if (bitmaps.empty()) return Bitmap();
  if (bitmaps.size() == 1) return *bitmaps[0];
  return Bitmap::fastunion(bitmaps.size(), bitmaps.data());
}

}  // namespace waymark
