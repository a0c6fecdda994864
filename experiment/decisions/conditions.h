// What has to hold before a ramp goes on or a winner is released, and what follows from it without anybody
// asking. Functions of values: the evidence is gathered elsewhere.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "experiment/decisions/guardrail.h"
#include "experiment/decisions/state_machine.h"
#include "experiment/statistics/sample_ratio.h"

namespace waymark {

struct Evidence {
  // By arm; empty: no units were counted, what the server measured alone decides.
  std::vector<int64_t> units;
  std::vector<int64_t> units_since_step;  // by arm, exposed since the newest decision
  std::vector<int64_t> copies;            // by arm, of requests, in the shadow
  int64_t days_with_exposures = 0;
  statistics::SampleRatio sample_ratio;
  std::vector<GuardrailResult> guardrails;
  std::string winner;                     // by the primary metric; empty: none yet
  bool all_worse = false;                 // every treatment than the control, by the primary metric
  std::map<std::string, double> primary;  // what the primary metric shows of each treatment, by name

  // As a decision record keeps it.
  std::map<std::string, double> Numbers() const;
};

// Empty: the move may be made. Each says what is missing, with its numbers. Rolling back and ending have no
// conditions. A clock that jumps ahead does not make a minimal run time pass: days count on which units came.
std::vector<std::string> UnmetConditions(const storage::ExperimentRecord& record, const Move& move,
                                         const Evidence& evidence, absl::Time now);

struct AutomaticMove {
  Move move;
  std::string reason;
};
// A violated guardrail rolls back at once, from what the server measured alone. None: none is violated.
std::optional<AutomaticMove> RollBackMove(const storage::ExperimentRecord& record,
                                          const std::vector<GuardrailResult>& guardrails);
// That, or the next step of an automatic ramp when its conditions hold. None: nothing is to be done.
std::optional<AutomaticMove> NextMove(const storage::ExperimentRecord& record, const Evidence& evidence,
                                      absl::Time now);

}  // namespace waymark
