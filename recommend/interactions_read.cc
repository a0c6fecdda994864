#include <algorithm>

#include "recommend/interactions.h"

namespace waymark {

absl::StatusOr<Interactions> ReadInteractions(const Store& store, Scope scope, LogOffset up_to) {
  Interactions out;
  const EventTypes types = store.GetEventTypes(scope);
  std::vector<ItemOrdinal> items;
  std::vector<int64_t> times;
  std::vector<LogOffset> offsets;
  absl::Status status =
      store.ForEachHistory(scope, up_to, [&](UserNumber user, absl::Span<const HistoryEvent> history) {
        items.clear();
        times.clear();
        offsets.clear();
        for (const HistoryEvent& event : history) {
          const EventType* type = types.Find(event.type);
          if (type == nullptr || type->sign != EventSign::kPositive || event.item == kNoItem) continue;
          items.push_back(event.item);
          times.push_back(absl::ToUnixMicros(std::min(event.time, event.received)));
          offsets.push_back(event.offset);
        }
        if (!items.empty()) out.AddUser(user, items, times, offsets);
        return true;
      });
  if (!status.ok()) return status;
  out.item_end = std::max(out.item_end, store.ItemEnd(scope));
  return out;
}

}  // namespace waymark
