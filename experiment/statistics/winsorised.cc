#include "experiment/statistics/winsorised.h"

#include <algorithm>
#include <vector>

#include "experiment/statistics/quantile_metric.h"

namespace waymark::statistics {

double WinsorCap(absl::Span<const double> values, double q, bool positive_only) {
  std::vector<double> kept;
  kept.reserve(values.size());
  for (double value : values) {
    if (!positive_only || value > 0) kept.push_back(value);
  }
  return QuantileOf(&kept, q);
}

Moments CappedMoments(absl::Span<const double> values, double cap) {
  Moments moments;
  for (double value : values) moments.Add(std::min(value, cap));
  return moments;
}

}  // namespace waymark::statistics
