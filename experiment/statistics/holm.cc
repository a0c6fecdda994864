#include "experiment/statistics/holm.h"

#include <algorithm>
#include <numeric>

namespace waymark::statistics {

std::vector<double> HolmAdjusted(absl::Span<const double> p_values) {
  const size_t m = p_values.size();
  std::vector<size_t> order(m);
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(m);
  double largest = 0;
  for (size_t i = 0; i < m; ++i) {
    largest = std::max(largest, std::min(1.0, static_cast<double>(m - i) * p_values[order[i]]));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

}  // namespace waymark::statistics
