// The first items of a set in an order that a request asks for.
//
//   auto first = SortItems(*catalog, *order, allowed.get(), &matches, 500, expired);
#pragma once
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "catalog/scored_item.h"
#include "catalog/sort_order.h"

namespace waymark {

// Exact over all of them: a bounded heap, so memory does not grow with the set. `matches`: the items with the
// scores that break ties; null: all live items, which tie by their ordinals. `allowed`: only those count;
// null: all. Items that do not live are left out. DEADLINE_EXCEEDED: `expired`, asked every few thousand
// items, said so. Thread-safe.
absl::StatusOr<std::vector<ScoredItem>> SortItems(const Catalog& catalog, const SortOrder& order,
                                                  const ItemSet* allowed,
                                                  const std::vector<ScoredItem>* matches, size_t limit,
                                                  absl::FunctionRef<bool()> expired);

}  // namespace waymark
