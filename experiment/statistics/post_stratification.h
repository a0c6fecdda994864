// Post-stratification: compares like with like within strata that were known before exposure (platform,
// country), then weights the strata by their share of all units.
#pragma once
#include "absl/types/span.h"
#include "experiment/statistics/effect.h"

namespace waymark::statistics {

// Miratrix, Sekhon, Yu: Adjusting treatment effect estimates by post-stratification in randomized
// experiments, JRSS B 75 (2013), section 3: mean = sum_s w_s m_s, variance of it = sum_s w_s^2 v_s / n_s.
// strata, weights: [strata]; the weights are the same for both arms and add up to 1. Strata where either arm
// has less than two units have to be merged by the caller: FAILED_PRECONDITION names the place.
absl::StatusOr<ArmEstimate> PostStratified(absl::Span<const ArmEstimate> strata,
                                           absl::Span<const double> weights);

}  // namespace waymark::statistics
