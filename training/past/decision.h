// Past moments at which something could have been shown, and what the user then did: what rankers learn from
// and what evaluation asks.
#pragma once
#include <vector>

#include "absl/time/time.h"
#include "candidates/request_context.h"
#include "training/past/training_log.h"

namespace waymark {

struct Decision {
  size_t user = 0;   // row of TrainingLog::users
  size_t event = 0;  // the event that was the answer, counted in the user's history
};

// The `from_end`-th newest event of each user (1: the newest), where at least one event comes before it.
std::vector<Decision> LastDecisions(const TrainingLog& log, size_t from_end);
// Events in [from, until) that have a history, in order of time; at most `limit`, evenly spaced.
std::vector<Decision> DecisionsBetween(const TrainingLog& log, absl::Time from, absl::Time until,
                                       size_t limit);

enum class Repeats { kMask, kAllow };  // whether items of the history may be found again

// The request as it stood: events that come before the answer in the user's history. `as_known` also leaves
// out what the server received later than the answer's time; leave-one-out, by its definition, does not ask.
RequestContext ContextOf(const TrainingLog& log, Scope scope, const Decision& decision, Repeats repeats,
                         bool as_known);

inline const TrainingEvent& AnswerOf(const TrainingLog& log, const Decision& decision) {
  return log.EventsOf(decision.user)[decision.event];
}

}  // namespace waymark
