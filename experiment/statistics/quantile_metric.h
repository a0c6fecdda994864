// Quantiles of a metric over units (median spend, 95th percentile of time to the first click).
#pragma once
#include <vector>

#include "experiment/statistics/effect.h"

namespace waymark::statistics {

// The smallest value that at least a share q of the values does not exceed. `values`: [n], reordered.
double QuantileOf(std::vector<double>* values, double q);

// The quantile with its variance from order statistics: with L, U the values at ranks n q -+ z sqrt(n q (1 -
// q)), its standard deviation is (U - L) / (2 z), z = 1.96 (Deng, Knoblich, Lu 2018, section 4, after the
// classic interval of Brookmeyer and Crowley). FAILED_PRECONDITION: ranks beyond the values; the message says
// how many are needed.
absl::StatusOr<ArmEstimate> QuantileEstimate(std::vector<double> values, double q);

}  // namespace waymark::statistics
