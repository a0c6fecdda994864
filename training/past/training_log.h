// The histories of a collection as they lie in the log, small enough to hold in memory, and cuts through
// them: what was known at some point. Every example is made from such a cut, so that nothing of the future
// gets into it.
//
//   auto log = TrainingLog::Read(store, scope, store.End());
//   Interactions known = log->Known(Cut{.received_before = boundary});
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "recommend/interactions.h"
#include "store/store.h"

namespace waymark {

// One event with a positive sign.
struct TrainingEvent {
  ItemOrdinal item = kNoItem;
  EventTypeCode type = 0;
  int64_t time_us = 0;      // the order inside a history
  int64_t received_us = 0;  // when a decision could first have known it
  LogOffset offset = 0;
  uint32_t query = 0;  // index into TrainingLog::queries; 0: none
  uint32_t surface = 0;
};

// What is held back. Both conditions count.
struct Cut {
  size_t newest_of_each_user = 0;  // leave-one-out holds back so many
  absl::Time received_before = absl::InfiniteFuture();
};

struct TrainingLog {
  std::vector<UserNumber> users;         // [users]
  std::vector<uint64_t> starts{0};       // [users + 1]
  std::vector<TrainingEvent> events;     // of each user, oldest first by (event time, offset)
  std::vector<std::string> queries{""};  // distinct queries and surfaces
  ItemOrdinal item_end = 0;
  LogOffset up_to = 0;

  static absl::StatusOr<TrainingLog> Read(const Store& store, Scope scope, LogOffset up_to);
  absl::Span<const TrainingEvent> EventsOf(size_t u) const {
    return absl::MakeConstSpan(events).subspan(starts[u], starts[u + 1] - starts[u]);
  }
  // The events that `cut` leaves.
  Interactions Known(const Cut& cut) const;
  // When the given share (0..1) of all events had been received.
  absl::Time ReceivedQuantile(double share) const;
};

}  // namespace waymark
