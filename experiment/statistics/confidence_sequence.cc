#include "experiment/statistics/confidence_sequence.h"

#include <algorithm>
#include <cmath>

namespace waymark::statistics {

TestResult ConfidenceSequence(const Effect& effect, const ConfidenceSequenceOptions& options) {
  const double error = std::sqrt(effect.variance);
  if (error == 0) {
    return {effect.estimate, 0, effect.estimate, effect.estimate, effect.estimate == 0 ? 1.0 : 0.0};
  }
  const double log_alpha = -2 * std::log(options.alpha);
  const double rho_squared = (log_alpha + std::log(log_alpha + 1)) / options.tuning;
  const double grown = effect.n * rho_squared + 1;
  const double half =
      error * std::sqrt(2 * grown / (effect.n * rho_squared) * std::log(std::sqrt(grown) / options.alpha));
  const double z = effect.estimate / error;
  const double p = std::exp(std::log(grown) / 2 - z * z * effect.n * rho_squared / (2 * grown));
  return {effect.estimate, error, effect.estimate - half, effect.estimate + half, std::min(1.0, p)};
}

}  // namespace waymark::statistics
