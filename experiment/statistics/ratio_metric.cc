#include "experiment/statistics/ratio_metric.h"

#include <algorithm>

namespace waymark::statistics {

absl::StatusOr<ArmEstimate> RatioOf(const PairMoments& arm) {
  if (arm.x.sum == 0) {
    return absl::FailedPreconditionError(
        "the denominators of a ratio add up to 0: wait for more, or choose another denominator");
  }
  const double ratio = arm.y.sum / arm.x.sum, mean = arm.x.Mean();
  const double variance =
      (arm.y.Variance() - 2 * ratio * arm.Covariance() + ratio * ratio * arm.x.Variance()) / (mean * mean);
  return ArmEstimate{arm.y.n, ratio, std::max(0.0, variance), ratio};
}

}  // namespace waymark::statistics
