#include "training/federated/privacy/privacy_accountant.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace waymark {
namespace {

constexpr int kLargestOrder = 256;

}  // namespace

double RenyiDivergence(double noise, double rate, int order) {
  if (rate == 0) return 0;
  if (noise <= 0) return std::numeric_limits<double>::infinity();
  const double twice_variance = 2 * noise * noise;
  if (rate == 1) return order / twice_variance;
  std::vector<double> logs;
  for (int k = 0; k <= order; ++k) {
    const double choose = std::lgamma(order + 1) - std::lgamma(k + 1) - std::lgamma(order - k + 1);
    logs.push_back(choose + (order - k) * std::log1p(-rate) + k * std::log(rate) +
                   static_cast<double>(k) * (k - 1) / twice_variance);
  }
  const double largest = *std::max_element(logs.begin(), logs.end());
  double sum = 0;
  for (double value : logs) sum += std::exp(value - largest);
  return (largest + std::log(sum)) / (order - 1);
}

PrivacySpent SpentPrivacy(double noise, double rate, int64_t rounds, double delta, RdpConversion conversion) {
  PrivacySpent best{rounds == 0 ? 0 : std::numeric_limits<double>::infinity(), 2};
  if (rounds == 0) return best;
  for (int order = 2; order <= kLargestOrder; ++order) {
    double epsilon = static_cast<double>(rounds) * RenyiDivergence(noise, rate, order);
    if (conversion == RdpConversion::kClassic) {
      epsilon -= std::log(delta) / (order - 1);
    } else {
      epsilon += std::log((order - 1.0) / order) - (std::log(delta) + std::log(order)) / (order - 1);
    }
    epsilon = std::max(epsilon, 0.0);
    if (epsilon < best.epsilon) best = {epsilon, order};
  }
  return best;
}

}  // namespace waymark
