// What units of an experiment would have done had its arms been given out otherwise: from their outcomes and
// the propensities that their arms were logged with.
#pragma once
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiment/offpolicy/logged_decision.h"
#include "experiment/outcomes/outcome_table.h"

namespace waymark {

struct PolicyEstimate {
  std::string method;  // ips, snips, doubly_robust
  OffPolicyEstimate estimate;
};
struct PolicyAnswer {
  std::vector<PolicyEstimate> estimates;
  int64_t units = 0;
  double logged_value = 0;  // the mean as the arms were given out
};

// One decision a unit. The doubly robust model is the mean of arm and segment, learnt from the other half of
// the units, so that no unit predicts itself.
std::vector<LoggedDecision> DecisionsOf(const OutcomeTable& table, size_t metric, double cap,
                                        const std::vector<double>& shares);

// shares: [arms], of the policy that is asked about. INVALID_ARGUMENT: a metric that is no mean;
// FAILED_PRECONDITION: nothing of what was logged is what the policy would choose.
absl::StatusOr<PolicyAnswer> EstimatePolicy(const OutcomeTable& table, size_t metric, double cap,
                                            const std::vector<double>& shares,
                                            const OffPolicyOptions& options);

}  // namespace waymark
