#include "experiment/statistics/quantile_metric.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace waymark::statistics {
namespace {

constexpr double kZ = 1.959963984540054;

}  // namespace

double QuantileOf(std::vector<double>* values, double q) {
  if (values->empty()) return 0;
  const double rank = std::ceil(q * static_cast<double>(values->size()));
  const size_t place = std::min(values->size() - 1, static_cast<size_t>(std::max(1.0, rank)) - 1);
  std::nth_element(values->begin(), values->begin() + static_cast<ptrdiff_t>(place), values->end());
  return (*values)[place];
}

absl::StatusOr<ArmEstimate> QuantileEstimate(std::vector<double> values, double q) {
  const double n = static_cast<double>(values.size());
  const double spread = kZ * std::sqrt(n * q * (1 - q));
  const double low = std::floor(n * q - spread), high = std::ceil(n * q + spread);
  if (low < 1 || high > n) {
    const double needed = std::ceil(kZ * kZ * std::max(q / (1 - q), (1 - q) / q)) + 2;
    return absl::FailedPreconditionError(absl::StrCat("quantile ", q, " of ", values.size(),
                                                      " units has no interval; it takes about ", needed));
  }
  std::sort(values.begin(), values.end());
  const double deviation =
      (values[static_cast<size_t>(high) - 1] - values[static_cast<size_t>(low) - 1]) / (2 * kZ);
  const double quantile = QuantileOf(&values, q);
  return ArmEstimate{n, quantile, deviation * deviation * n, quantile};
}

}  // namespace waymark::statistics
