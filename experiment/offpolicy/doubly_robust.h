// Doubly robust: a model of the reward, corrected by the weighted error of the model. Right when either the
// propensities or the model is.
#pragma once
#include "experiment/offpolicy/logged_decision.h"

namespace waymark {

// mean(q_target + w (r - q)) with q = predicted, q_target = predicted_under_target (Dudik, Langford, Li:
// Doubly Robust Policy Evaluation and Learning, ICML 2011, equation 1).
absl::StatusOr<OffPolicyEstimate> DoublyRobust(absl::Span<const LoggedDecision> log,
                                               const OffPolicyOptions& options);

}  // namespace waymark
