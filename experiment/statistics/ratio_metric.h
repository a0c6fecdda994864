// Ratios of two sums over units (clicks per impression, revenue per order): the unit of analysis is not the
// unit of assignment, so its variance comes from the delta method.
#pragma once
#include "experiment/statistics/effect.h"

namespace waymark::statistics {

// R = mean(y) / mean(x), variance a unit (var(y) - 2 R cov(y, x) + R^2 var(x)) / mean(x)^2 (Deng, Knoblich,
// Lu 2018, equation 4). FAILED_PRECONDITION: the denominators add up to 0.
absl::StatusOr<ArmEstimate> RatioOf(const PairMoments& arm);

}  // namespace waymark::statistics
