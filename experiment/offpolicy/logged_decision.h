// What a new policy would have earned, told from what an old one logged: common ground of the estimators.
//
//   std::vector<LoggedDecision> log = ...;           // one a decision
//   auto estimate = SelfNormalised(log, {});
//   estimate->value, estimate->low, estimate->high, estimate->warnings
#pragma once
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace waymark {

struct LoggedDecision {
  double reward = 0;
  double logged_propensity = 0;  // with which the old policy chose what it chose; in (0, 1]
  double target_propensity = 0;  // with which the new one would have; in [0, 1]
  // Of a model of the reward: for what was chosen, and on average over what the new policy would choose. The
  // doubly robust estimate reads them.
  double predicted = 0, predicted_under_target = 0;
};

struct OffPolicyOptions {
  double alpha = 0.05;
  double weight_cap = 0;  // weights above are cut to it, which biases and calms; 0: none
};

struct OffPolicyEstimate {
  double value = 0, standard_error = 0, low = 0, high = 0;
  // (sum w)^2 / sum w^2 (Kish 1965): as many plain observations tell as much.
  double effective_sample_size = 0;
  double mean_weight = 0;    // 1 on average when propensities are right and the old policy tried everything
  double largest_share = 0;  // of the sum of weights, by one decision
  std::vector<std::string> warnings;
};

// w = target / logged, cut. INVALID_ARGUMENT names the row: propensities outside their range, no rows.
absl::StatusOr<std::vector<double>> ImportanceWeights(absl::Span<const LoggedDecision> log,
                                                      const OffPolicyOptions& options);

// Value, standard error (normal interval) and what the weights say of their worth. contributions:
// [decisions], whose mean is the value.
OffPolicyEstimate Summarise(absl::Span<const double> contributions, absl::Span<const double> weights,
                            const OffPolicyOptions& options);

}  // namespace waymark
