// Requests for tests: a history of items, a filter.
#pragma once
#include <algorithm>

#include "candidates/candidate.h"
#include "candidates/request_context.h"

namespace waymark::tests {

inline RequestContext ContextOf(const std::vector<ItemOrdinal>& history) {
  RequestContext context;
  context.now = absl::FromUnixSeconds(1000000);
  for (size_t i = 0; i < history.size(); ++i) {
    HistoryEvent event;
    event.item = history[i];
    event.type = event_code::kView;
    event.time = absl::FromUnixSeconds(static_cast<int64_t>(i));
    context.history.push_back(event);
  }
  return context;
}

inline std::vector<ItemOrdinal> ItemsOf(const std::vector<ScoredItem>& scored) {
  std::vector<ItemOrdinal> items;
  for (const ScoredItem& item : scored) items.push_back(item.item);
  return items;
}

inline std::shared_ptr<const ItemSet> Only(const std::vector<ItemOrdinal>& items) {
  return std::make_shared<const ItemSet>(ItemSet::Of(items));
}

}  // namespace waymark::tests
