#include "experiment/statistics/msprt.h"

#include <algorithm>
#include <cmath>

namespace waymark::statistics {

TestResult Msprt(const Effect& effect, const MsprtOptions& options) {
  const double v = effect.variance, tau_squared = options.tau * options.tau;
  if (v == 0) {
    return {effect.estimate, 0, effect.estimate, effect.estimate, effect.estimate == 0 ? 1.0 : 0.0};
  }
  const double total = v + tau_squared;
  const double log_ratio =
      std::log(v / total) / 2 + tau_squared * effect.estimate * effect.estimate / (2 * v * total);
  const double half =
      std::sqrt(v * total / tau_squared * (2 * std::log(1 / options.alpha) + std::log(total / v)));
  return {effect.estimate, std::sqrt(v), effect.estimate - half, effect.estimate + half,
          std::min(1.0, std::exp(-log_ratio))};
}

}  // namespace waymark::statistics
