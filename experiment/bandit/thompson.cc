#include "experiment/bandit/thompson.h"

#include <algorithm>
#include <cmath>

namespace waymark {
namespace {

double Normal(absl::FunctionRef<double()> uniform) {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * M_PI * uniform());
}

// Marsaglia, Tsang: A simple method for generating gamma variables, ACM TOMS 26 (2000); shape >= 1.
double Gamma(double shape, absl::FunctionRef<double()> uniform) {
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = Normal(uniform), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(1 - uniform()) < x * x / 2 + d - d * v + d * std::log(v)) return d * v;
  }
}

double Beta(const BanditArm& arm, absl::FunctionRef<double()> uniform) {
  const double a = Gamma(1 + arm.successes, uniform), b = Gamma(1 + arm.failures, uniform);
  return a / (a + b);
}

}  // namespace

std::vector<double> TopTwoShares(absl::Span<const BanditArm> arms, const TopTwoOptions& options,
                                 absl::FunctionRef<double()> uniform) {
  std::vector<double> shares(arms.size(), 0);
  if (arms.size() < 2) {
    std::fill(shares.begin(), shares.end(), 1.0);
    return shares;
  }
  // The challenger is the best of a draw that another arm wins; the runner-up of one draw stands for it,
  // since draws in which the leader loses become rare when it is nearly sure.
  for (int draw = 0; draw < options.draws; ++draw) {
    size_t best = 0, second = 0;
    double best_rate = -1, second_rate = -1;
    for (size_t i = 0; i < arms.size(); ++i) {
      const double rate = Beta(arms[i], uniform);
      if (rate > best_rate) {
        second = best, second_rate = best_rate;
        best = i, best_rate = rate;
      } else if (rate > second_rate) {
        second = i, second_rate = rate;
      }
    }
    shares[best] += options.best_share;
    shares[second] += 1 - options.best_share;
  }
  const double floor = std::min(options.floor, 1.0 / static_cast<double>(arms.size()));
  const double free = 1 - floor * static_cast<double>(arms.size());
  for (double& share : shares) share = floor + free * share / options.draws;
  return shares;
}

}  // namespace waymark
