#include "experiment/statistics/benjamini_hochberg.h"

#include <algorithm>
#include <numeric>

namespace waymark::statistics {

std::vector<double> BenjaminiHochbergAdjusted(absl::Span<const double> p_values) {
  const size_t m = p_values.size();
  std::vector<size_t> order(m);
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(m);
  double smallest = 1;
  for (size_t i = m; i-- > 0;) {
    smallest = std::min(smallest, static_cast<double>(m) * p_values[order[i]] / static_cast<double>(i + 1));
    adjusted[order[i]] = smallest;
  }
  return adjusted;
}

}  // namespace waymark::statistics
