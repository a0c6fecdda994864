#include "training/past/decision.h"

#include <algorithm>

#include "pipeline/user_state.h"

namespace waymark {

std::vector<Decision> LastDecisions(const TrainingLog& log, size_t from_end) {
  std::vector<Decision> decisions;
  for (size_t u = 0; u < log.users.size(); ++u) {
    const size_t length = log.EventsOf(u).size();
    if (length > from_end) decisions.push_back({u, length - from_end});
  }
  return decisions;
}

std::vector<Decision> DecisionsBetween(const TrainingLog& log, absl::Time from, absl::Time until,
                                       size_t limit) {
  const int64_t from_us = absl::ToUnixMicros(from), until_us = absl::ToUnixMicros(until);
  std::vector<Decision> all;
  for (size_t u = 0; u < log.users.size(); ++u) {
    const auto events = log.EventsOf(u);
    for (size_t i = 1; i < events.size(); ++i) {
      if (events[i].time_us >= from_us && events[i].time_us < until_us) all.push_back({u, i});
    }
  }
  std::sort(all.begin(), all.end(), [&log](const Decision& a, const Decision& b) {
    const TrainingEvent &x = AnswerOf(log, a), &y = AnswerOf(log, b);
    return x.time_us != y.time_us ? x.time_us < y.time_us : x.offset < y.offset;
  });
  if (all.size() <= limit) return all;
  std::vector<Decision> spaced;
  for (size_t k = 0; k < limit; ++k) spaced.push_back(all[k * all.size() / limit]);
  return spaced;
}

RequestContext ContextOf(const TrainingLog& log, Scope scope, const Decision& decision, Repeats repeats,
                         bool as_known) {
  const auto events = log.EventsOf(decision.user);
  const TrainingEvent& answer = events[decision.event];
  RequestContext context;
  context.scope = scope;
  context.user = log.users[decision.user];
  context.now = absl::FromUnixMicros(answer.time_us);
  context.query = log.queries[answer.query];
  context.surface = log.queries[answer.surface];
  for (size_t i = 0; i < decision.event; ++i) {
    const TrainingEvent& event = events[i];
    if (as_known && event.received_us > answer.time_us) continue;
    if (repeats == Repeats::kMask) context.excluded.push_back(event.item);
    HistoryEvent& past = context.history.emplace_back();
    past.item = event.item;
    past.type = event.type;
    past.time = absl::FromUnixMicros(event.time_us);
    past.received = absl::FromUnixMicros(event.received_us);
    past.offset = event.offset;
  }
  if (context.history.size() > kMaxPositive) {
    context.history.erase(context.history.begin(), context.history.end() - kMaxPositive);
  }
  std::sort(context.excluded.begin(), context.excluded.end());
  context.excluded.erase(std::unique(context.excluded.begin(), context.excluded.end()),
                         context.excluded.end());
  return context;
}

}  // namespace waymark
