#include "experiment/statistics/cuped.h"

#include <algorithm>

namespace waymark::statistics {

double CupedTheta(const PairMoments& pooled) {
  const double variance = pooled.x.Variance();
  return variance > 0 ? pooled.Covariance() / variance : 0;
}

ArmEstimate CupedMean(const PairMoments& arm, double theta) {
  const double variance = arm.y.Variance() + theta * theta * arm.x.Variance() - 2 * theta * arm.Covariance();
  return {arm.y.n, arm.y.Mean() - theta * arm.x.Mean(), std::max(0.0, variance), arm.y.Mean()};
}

}  // namespace waymark::statistics
