#include "experiment/statistics/bayes.h"

#include <algorithm>
#include <cmath>

#include "experiment/statistics/distributions.h"

namespace waymark::statistics {

BayesResult Bayes(const Effect& effect, const NormalPrior& prior, double alpha) {
  double mean = effect.estimate, variance = effect.variance;
  if (!prior.flat && prior.variance > 0 && variance > 0) {
    const double precision = 1 / variance + 1 / prior.variance;
    mean = (effect.estimate / variance + prior.mean / prior.variance) / precision;
    variance = 1 / precision;
  }
  BayesResult result{.estimate = mean, .deviation = std::sqrt(variance), .low = mean, .high = mean};
  if (variance == 0) {
    result.chance_to_win = mean > 0 ? 1 : mean < 0 ? 0 : 0.5;
    result.control_risk = std::max(0.0, mean);
    result.treatment_risk = std::max(0.0, -mean);
    return result;
  }
  const double z = mean / result.deviation, height = result.deviation * NormalDensity(z);
  result.chance_to_win = NormalCdf(z);
  result.control_risk = height + mean * NormalCdf(z);
  result.treatment_risk = height - mean * NormalTail(z);
  const double half = NormalQuantile(1 - alpha / 2) * result.deviation;
  result.low = mean - half;
  result.high = mean + half;
  return result;
}

}  // namespace waymark::statistics
