// Self-normalised inverse propensity scoring: a little biased, much calmer, and it never leaves the range of
// rewards.
#pragma once
#include "experiment/offpolicy/logged_decision.h"

namespace waymark {

// V = sum(w r) / sum(w) (Swaminathan, Joachims: The Self-Normalized Estimator for Counterfactual Learning,
// NIPS 2015); its variance by the delta method, that of the mean of V + w (r - V) / mean(w) (Owen: Monte
// Carlo theory, 2013, equation 9.9). FAILED_PRECONDITION: all weights are 0.
absl::StatusOr<OffPolicyEstimate> SelfNormalised(absl::Span<const LoggedDecision> log,
                                                 const OffPolicyOptions& options);

}  // namespace waymark
