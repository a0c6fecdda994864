#include "experiment/decisions/advice.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace waymark {
namespace {

using storage::ExperimentRecord;

void Append(const char* what, const std::vector<std::string>& unmet, std::vector<std::string>* missing) {
  for (const std::string& one : unmet) missing->push_back(absl::StrCat(what, ": ", one));
}

const char* HowSure(const ExperimentRecord& record) {
  return record.has_planned_looks() ? "beyond the boundary of a planned look"
                                    : "at a p-value that is valid at every look";
}

}  // namespace

Advice Advise(const ExperimentRecord& record, const Evidence& evidence, absl::Time now) {
  Advice advice;
  if (!IsLive(record.state())) return advice;
  if ((advice.next = RollBackMove(record, evidence.guardrails))) return advice;
  const Move release{.action = Action::kRelease, .winner = evidence.winner};
  const bool running = record.state() == ExperimentRecord::RUNNING;
  auto unmet_release = running ? UnmetConditions(record, release, evidence, now) : std::vector<std::string>();
  if (running && evidence.winner.empty())
    unmet_release.emplace_back(record.has_planned_looks()
                                   ? "winner: no planned look has told an arm apart"
                                   : "winner: the primary metric tells no arm apart yet");
  if (running && !evidence.winner.empty() && unmet_release.empty()) {
    advice.next = {release,
                   absl::StrFormat("'%s' is better by the primary metric, %s, and all conditions hold",
                                   evidence.winner, HowSure(record))};
    return advice;
  }
  if (running && evidence.all_worse) {
    advice.next = {
        {.action = Action::kRollBack},
        absl::StrCat("every treatment is worse than the control by the primary metric, ", HowSure(record))};
    return advice;
  }
  const double coverage = NextCoverage(record);
  if (coverage > 0) {
    const Move ramp{.action = Action::kRamp, .coverage = coverage};
    const auto unmet = UnmetConditions(record, ramp, evidence, now);
    if (unmet.empty()) {
      advice.next = {ramp, absl::StrFormat("all conditions hold at %g%%", 100 * record.coverage())};
      return advice;
    }
    Append("ramp", unmet, &advice.missing);
  }
  Append("release", unmet_release, &advice.missing);
  return advice;
}

}  // namespace waymark
