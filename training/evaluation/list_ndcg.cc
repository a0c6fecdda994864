#include "training/evaluation/list_ndcg.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace waymark {
namespace {

double Discount(size_t rank, size_t k) {  // rank from 1
  return rank <= k ? 1 / std::log2(1.0 + static_cast<double>(rank)) : 0;
}

}  // namespace

double ListNdcg(absl::Span<const float> scores, absl::Span<const float> gains, size_t k) {
  const size_t n = scores.size();
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  double found = 0;
  for (size_t first = 0; first < n && first < k;) {
    size_t last = first;
    double gain = gains[order[first]], discount = Discount(first + 1, k);
    while (last + 1 < n && scores[order[last + 1]] == scores[order[first]]) {
      ++last;
      gain += gains[order[last]];
      discount += Discount(last + 1, k);
    }
    found += gain * discount / static_cast<double>(last - first + 1);
    first = last + 1;
  }
  std::vector<float> best(gains.begin(), gains.end());
  std::sort(best.begin(), best.end(), std::greater<>());
  double ideal = 0;
  for (size_t r = 0; r < std::min(n, k); ++r) ideal += best[r] * Discount(r + 1, k);
  return ideal > 0 ? found / ideal : 0;
}

}  // namespace waymark
