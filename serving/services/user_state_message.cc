#include "serving/services/user_state_message.h"

#include <string>
#include <vector>

#include "serving/services/time_messages.h"

namespace waymark {

absl::Status FillUserState(const Store& store, Scope scope, UserNumber user, size_t history_limit,
                           v1::UserState* state) {
  auto record = store.GetUser(scope, user);
  if (!record.ok()) return record.status();
  if (!record->visitor()) state->set_user_id(record->id());
  const std::vector<HistoryEvent> history = store.ReadHistory(scope, user, {.limit = history_limit});
  std::vector<ItemOrdinal> items;
  for (const HistoryEvent& event : history) items.push_back(event.item);
  const std::vector<std::string> ids = store.ItemIds(scope, items);
  const EventTypes types = store.GetEventTypes(scope);
  for (size_t i = 0; i < history.size(); ++i) {
    v1::UserState::HistoryEvent* event = state->add_history();
    event->set_item_id(ids[i]);
    if (const EventType* type = types.Find(history[i].type)) event->set_type(type->name);
    SetTimestamp(absl::ToUnixMicros(history[i].time), event->mutable_time());
    if (history[i].value) event->set_value(*history[i].value);
  }
  for (const uint64_t visitor : record->joined_visitors()) {
    auto joined = store.GetUser(scope, visitor);
    if (joined.ok()) state->add_joined_visitor_ids(joined->id());
  }
  return absl::OkStatus();
}

}  // namespace waymark
