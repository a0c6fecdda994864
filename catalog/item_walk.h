// Walks over the items that a request matches, under its filter. For catalog/ alone.
#pragma once
#include <vector>

#include "absl/functional/function_ref.h"
#include "catalog/item_columns.h"
#include "catalog/scored_item.h"

namespace waymark {

// Calls visit(ScoredItem) for each of `matches` (null: each live item, with score 0) that lives and is in
// `allowed` (null: all). Asks `expired` every few thousand items; false: it said so.
template <class Visit>
bool ForEachMatch(const ItemColumns& columns, const ItemSet* allowed, const std::vector<ScoredItem>* matches,
                  absl::FunctionRef<bool()> expired, const Visit& visit) {
  constexpr size_t kItemsPerLook = 1 << 12;
  size_t since = 0;
  const auto late = [&] {
    if (++since < kItemsPerLook) return false;
    since = 0;
    return expired();
  };
  const Bitmap& live = columns.rows().live;
  if (matches == nullptr) {
    Bitmap items = live;
    if (allowed != nullptr) items &= allowed->impl().bits;
    for (const uint32_t item : items) {
      if (late()) return false;
      visit(ScoredItem{item, 0});
    }
    return true;
  }
  for (const ScoredItem& match : *matches) {
    if (late()) return false;
    if (live.contains(match.item) && (allowed == nullptr || allowed->Contains(match.item))) visit(match);
  }
  return true;
}

}  // namespace waymark
