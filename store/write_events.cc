// Events in a batch: duplicates, owners, the lines of histories.
#include "store/keys.h"
#include "store/write_builder_impl.h"

namespace waymark {

absl::StatusOr<bool> WriteBuilder::IsDuplicate(ScopeState& state, const PreparedEvent& event,
                                               const std::string& key) {
  if (event.fresh_id) return false;
  if (state.event_ids.contains(key)) return true;
  auto value = database_.Get(Family::kEventIds, key);
  if (!value.ok()) return value.status();
  return value->has_value();
}

// Whose event it is: the user's; else the user's that the visitor is joined to; else the visitor's.
absl::StatusOr<UserNumber> WriteBuilder::ResolveOwner(ScopeState& state, PreparedEvent& event) {
  storage::EventRecord& record = event.record;
  if (!event.user_id.empty()) {
    auto user = FindOrAddUser(state, false, event.user_id);
    if (!user.ok()) return user.status();
    record.set_user(*user);
  }
  if (!event.visitor_id.empty()) {
    auto visitor = FindOrAddUser(state, true, event.visitor_id);
    if (!visitor.ok()) return visitor.status();
    record.set_visitor(*visitor);
    if (record.user() != 0 && record.type() == event_code::kIdentify) {
      if (absl::Status status = Join(state, record.user(), *visitor); !status.ok()) return status;
    }
    if (record.user() == 0) {
      auto known = LoadUser(state, *visitor);
      if (!known.ok()) return known.status();
      record.set_user((*known)->joined_to());
    }
  }
  return record.user() != 0 ? record.user() : record.visitor();
}

absl::Status WriteBuilder::AddEvent(ScopeState& state, PreparedEvent& event, MutationResult& result) {
  storage::EventRecord& record = event.record;
  result.event_id = record.event_id();
  std::string id_key = EventIdKey(state.scope, record.event_id());
  auto duplicate = IsDuplicate(state, event, id_key);
  if (!duplicate.ok()) return duplicate.status();
  if (*duplicate) {
    result.duplicate = true;
    return absl::OkStatus();
  }
  // Room for every id that may be new, before anything goes into the batch.
  if (kNoItem - state.counters.next_item < event.item_ids.size()) {
    result.status = absl::ResourceExhaustedError(
        "this collection has given out all item ordinals (2^32 - 1): make a new collection");
    return absl::OkStatus();
  }
  for (size_t i = 0; i < event.item_ids.size(); ++i) {
    auto item = FindOrNameItem(state, event.item_ids[i]);
    if (!item.ok()) return item.status();
    record.mutable_items(static_cast<int>(i))->set_item(**item);
  }
  auto owner = ResolveOwner(state, event);
  if (!owner.ok()) return owner.status();

  storage::EventRecord& stored = *Append(state).mutable_event();
  stored = std::move(record);
  WriteLast(state);
  std::string offset;
  AppendBigEndian64(offset, end_);
  database_.Put(batch_, Family::kEventIds, id_key, offset);
  state.event_ids.insert(std::move(id_key));
  AddHistory(state, *owner, stored.user() == 0, stored, end_);
  ++state.counters.events;
  return absl::OkStatus();
}

void WriteBuilder::AddHistory(ScopeState& state, UserNumber owner, bool unjoined_visitor,
                              const storage::EventRecord& record, LogOffset offset) {
  const size_t prefix = UserKey(state.scope, owner).size();
  if (record.items().empty()) {
    AddLine(state, owner, unjoined_visitor,
            {Family::kUserLog, UserLogKey(state.scope, owner, offset).substr(prefix), {}});
    return;
  }
  storage::HistoryValue value;
  value.set_type(record.type());
  if (record.has_value()) value.set_value(record.value());
  value.set_surface(record.surface());
  value.set_query(record.query());
  value.set_session_id(record.session_id());
  value.set_received_time_us(record.received_time_us());
  for (int i = 0; i < record.items_size(); ++i) {
    value.set_item(record.items(i).item());
    const HistoryPlace place = {record.time_us(), offset, static_cast<uint16_t>(i)};
    AddLine(
        state, owner, unjoined_visitor,
        {Family::kHistory, HistoryKey(state.scope, owner, place).substr(prefix), value.SerializeAsString()});
  }
}

// A visitor's lines are kept until the end of the batch: a later identify event in it moves them.
void WriteBuilder::AddLine(ScopeState& state, UserNumber owner, bool unjoined_visitor, Line line) {
  database_.Put(batch_, line.family, UserKey(state.scope, owner) + line.rest, line.value);
  if (unjoined_visitor) state.visitor_lines[owner].push_back(std::move(line));
}

}  // namespace waymark
