#include "training/past/training_log.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"

namespace waymark {

absl::StatusOr<TrainingLog> TrainingLog::Read(const Store& store, Scope scope, LogOffset up_to) {
  TrainingLog log;
  log.up_to = up_to;
  const EventTypes types = store.GetEventTypes(scope);
  absl::flat_hash_map<std::string, uint32_t> numbers = {{"", 0}};
  const auto number_of = [&](const std::string& text) {
    auto [place, is_new] = numbers.try_emplace(text, static_cast<uint32_t>(log.queries.size()));
    if (is_new) log.queries.push_back(text);
    return place->second;
  };
  const absl::Status status =
      store.ForEachHistory(scope, up_to, [&](UserNumber user, absl::Span<const HistoryEvent> history) {
        const size_t before = log.events.size();
        for (const HistoryEvent& event : history) {
          const EventType* type = types.Find(event.type);
          if (type == nullptr || type->sign != EventSign::kPositive || event.item == kNoItem) continue;
          TrainingEvent& out = log.events.emplace_back();
          out.item = event.item;
          out.type = event.type;
          out.time_us = absl::ToUnixMicros(event.time);
          out.received_us = absl::ToUnixMicros(event.received);
          out.offset = event.offset;
          out.query = number_of(event.query);
          out.surface = number_of(event.surface);
        }
        if (log.events.size() == before) return true;
        log.users.push_back(user);
        log.starts.push_back(log.events.size());
        return true;
      });
  if (!status.ok()) return status;
  log.item_end = store.ItemEnd(scope);
  return log;
}

Interactions TrainingLog::Known(const Cut& cut) const {
  Interactions known;
  const int64_t before_us =
      cut.received_before == absl::InfiniteFuture() ? INT64_MAX : absl::ToUnixMicros(cut.received_before);
  std::vector<ItemOrdinal> items;
  std::vector<int64_t> times;
  std::vector<LogOffset> offsets;
  for (size_t u = 0; u < users.size(); ++u) {
    items.clear(), times.clear(), offsets.clear();
    const auto of_user = EventsOf(u);
    const size_t kept = of_user.size() - std::min(of_user.size(), cut.newest_of_each_user);
    for (const TrainingEvent& event : of_user.first(kept)) {
      if (event.received_us >= before_us) continue;
      items.push_back(event.item), offsets.push_back(event.offset);
      times.push_back(std::min(event.time_us, event.received_us));  // as live counts take it
    }
    known.AddUser(users[u], items, times, offsets);
  }
  known.item_end = item_end;
  return known;
}

absl::Time TrainingLog::ReceivedQuantile(double share) const {
  if (events.empty()) return absl::InfinitePast();
  std::vector<int64_t> received;
  received.reserve(events.size());
  for (const TrainingEvent& event : events) received.push_back(event.received_us);
  const size_t place =
      std::min(received.size() - 1, static_cast<size_t>(share * static_cast<double>(received.size())));
  std::nth_element(received.begin(), received.begin() + place, received.end());
  return absl::FromUnixMicros(received[place]);
}

}  // namespace waymark
