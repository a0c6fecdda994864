#include "pipeline/user_state.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

namespace waymark {

absl::StatusOr<UserState> MakeUserState(absl::Span<const HistoryEvent> newest_first, const EventTypes& types,
                                        const ExcludeSeen& exclude, absl::Time now) {
  absl::flat_hash_set<EventTypeCode> seen_types;
  for (const std::string& name : exclude.types) {
    const EventType* type = types.Find(name);
    if (type == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("exclude_seen.types: '", name, "' is not an event type of this collection"));
    }
    seen_types.insert(type->code);
  }
  const auto counts_as_seen = [&](const HistoryEvent& event) {
    if (exclude.disabled || (exclude.within && event.time < now - *exclude.within)) return false;
    return seen_types.empty() ? event.type != event_code::kImpression : seen_types.contains(event.type);
  };
  UserState state;
  for (const HistoryEvent& event : newest_first) {
    const EventType* type = types.Find(event.type);
    const EventSign sign = type == nullptr ? EventSign::kNeutral : type->sign;
    if (sign == EventSign::kPositive && state.positive.size() < kMaxPositive) state.positive.push_back(event);
    if (sign == EventSign::kNegative || counts_as_seen(event)) state.seen.push_back(event.item);
  }
  std::reverse(state.positive.begin(), state.positive.end());
  std::sort(state.seen.begin(), state.seen.end());
  state.seen.erase(std::unique(state.seen.begin(), state.seen.end()), state.seen.end());
  return state;
}

absl::StatusOr<UserState> ReadUserState(const Store& store, Scope scope, const PipelineRequest& request,
                                        absl::Time now) {
  const EventTypes types = store.GetEventTypes(scope);
  std::optional<UserNumber> user;
  if (!request.user_id.empty()) {
    user = store.FindUser(scope, request.user_id);
  } else if (!request.visitor_id.empty()) {
    user = store.FindVisitor(scope, request.visitor_id);
  }
  std::vector<HistoryEvent> events;
  const bool session_only = request.personalization == PersonalizationMode::kSessionOnly;
  if (user && request.personalization != PersonalizationMode::kOff &&
      !(session_only && request.session_id.empty())) {
    HistoryOptions options;
    options.limit = kMaxSeenEvents;
    if (session_only) options.session_id = request.session_id;
    events = store.ReadHistory(scope, *user, options);
  }
  auto state = MakeUserState(events, types, request.exclude_seen, now);
  if (state.ok() && user && request.personalization != PersonalizationMode::kOff) state->user = *user;
  return state;
}

}  // namespace waymark
