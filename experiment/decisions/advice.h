// The decision that an experiment's figures call for, and what is missing for the next one. A function of
// values.
//
//   Advice advice = Advise(record, evidence, now);
//   if (advice.next) Apply(record, advice.next->move, now);
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "experiment/decisions/conditions.h"

namespace waymark {

struct Advice {
  std::optional<AutomaticMove> next;  // none: nothing is to be decided yet
  std::vector<std::string> missing;   // for the next step of the ramp, and for a release
};

// In this order: a violated guardrail rolls back; a winner is released when nothing speaks against it; arms
// that are all worse than the control are rolled back; the ramp takes its next step. What has ended calls for
// nothing.
Advice Advise(const storage::ExperimentRecord& record, const Evidence& evidence, absl::Time now);

}  // namespace waymark
