#include "catalog/sort_items.h"

#include <algorithm>

#include "catalog/item_order.h"
#include "catalog/item_walk.h"

namespace waymark {

absl::StatusOr<std::vector<ScoredItem>> SortItems(const Catalog& catalog, const SortOrder& order,
                                                  const ItemSet* allowed,
                                                  const std::vector<ScoredItem>* matches, size_t limit,
                                                  absl::FunctionRef<bool()> expired) {
  if (limit == 0) return std::vector<ScoredItem>();
  std::vector<ItemOrder::Entry> heap;  // the last of them on top
  bool complete = true;
  catalog.Read([&](const ItemColumns& columns) {
    const ItemOrder bound(order, columns);
    const auto before = [&](const ItemOrder::Entry& a, const ItemOrder::Entry& b) {
      return bound.Before(a, b);
    };
    complete = ForEachMatch(columns, allowed, matches, expired, [&](const ScoredItem& item) {
      const ItemOrder::Entry entry = bound.Make(item);
      if (heap.size() == limit) {
        if (!before(entry, heap.front())) return;
        std::pop_heap(heap.begin(), heap.end(), before);
        heap.back() = entry;
      } else {
        heap.push_back(entry);
      }
      std::push_heap(heap.begin(), heap.end(), before);
    });
    std::sort_heap(heap.begin(), heap.end(), before);
  });
  if (!complete) return absl::DeadlineExceededError("the deadline passed while items were sorted");
  std::vector<ScoredItem> first;
  for (const ItemOrder::Entry& entry : heap) first.push_back({entry.item, entry.score});
  return first;
}

}  // namespace waymark
