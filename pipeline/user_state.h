// Stage 3: what a user's events mean for one request: the history that speaks for the user, and what is not
// shown again. Read from the store at each request, so an answered event is always in.
#pragma once
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "pipeline/request.h"
#include "store/event_types.h"
#include "store/history.h"
#include "store/store.h"

namespace waymark {

struct UserState {
  UserNumber user = 0;
  std::vector<HistoryEvent> positive;  // oldest first, at most kMaxPositive
  std::vector<ItemOrdinal> seen;       // sorted: excluded by exclude_seen, and items with a negative sign
};

inline constexpr size_t kMaxPositive = 200;
// How far back events count as seen.
inline constexpr size_t kMaxSeenEvents = 10000;

// A function of values. `newest_first`: the user's events. INVALID_ARGUMENT names an unknown type of
// exclude_seen.
absl::StatusOr<UserState> MakeUserState(absl::Span<const HistoryEvent> newest_first, const EventTypes& types,
                                        const ExcludeSeen& exclude, absl::Time now);

// Resolves user_id or visitor_id and reads as the request's personalization says. Nobody known: empty.
absl::StatusOr<UserState> ReadUserState(const Store& store, Scope scope, const PipelineRequest& request,
                                        absl::Time now);

}  // namespace waymark
