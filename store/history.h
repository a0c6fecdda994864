// What a user did, as decisions see it. A visitor's past stays with the first user that it is joined to.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "store/event_types.h"
#include "store/ids.h"

namespace waymark {

struct HistoryEvent {
  ItemOrdinal item = kNoItem;
  EventTypeCode type = 0;
  absl::Time time;       // event time: the order inside a history
  absl::Time received;   // when the server got it; of imported history: its event time
  LogOffset offset = 0;  // log position: whether a decision could have known it
  std::optional<float> value;
  std::string surface, query, session_id;  // filled only when HistoryOptions::details is set
};

struct HistoryOptions {
  size_t limit = 100;
  std::optional<absl::Time> not_before;
  std::string session_id;  // not empty: only this session's events
  bool details = false;
};

}  // namespace waymark
