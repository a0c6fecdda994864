// Inverse propensity scoring: unbiased, and the loosest of the three.
#pragma once
#include "experiment/offpolicy/logged_decision.h"

namespace waymark {

// mean(w r) (Horvitz, Thompson 1952; Precup, Sutton, Singh 2000).
absl::StatusOr<OffPolicyEstimate> InversePropensity(absl::Span<const LoggedDecision> log,
                                                    const OffPolicyOptions& options);

}  // namespace waymark
