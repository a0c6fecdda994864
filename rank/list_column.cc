#include "rank/list_column.h"

#include <algorithm>
#include <cmath>

namespace waymark {

void ListColumn::Read(absl::Span<const Candidate> candidates, Signal signal) {
  const size_t n = candidates.size();
  values_.assign(n, 0.f);
  present_.assign(n, 0);
  ranked_ = false;
  present_count_ = 0;
  double sum = 0, magnitude = 0;
  for (size_t i = 0; i < n; ++i) {
    const float x =
        signal == Signal::kCount ? candidates[i].fusion_score : Get(candidates[i].signals, signal);
    if (!std::isfinite(x)) continue;
    values_[i] = x;
    present_[i] = 1;
    ++present_count_;
    sum += x;
    magnitude = std::max(magnitude, std::abs(static_cast<double>(x)));
  }
  mean_ = present_count_ > 0 ? sum / present_count_ : 0;
  double squares = 0;
  for (size_t i = 0; i < n; ++i) {
    if (present_[i]) squares += (values_[i] - mean_) * (values_[i] - mean_);
  }
  const double deviation = present_count_ > 0 ? std::sqrt(squares / present_count_) : 0;
  // Below the resolution of a float the deviation is rounding, not information.
  inverse_ = deviation > 1e-7 * magnitude ? 1 / deviation : 0;
}

const std::vector<float>& ListColumn::Ranks() {
  if (ranked_) return ranks_;
  order_.clear();
  for (uint32_t i = 0; i < values_.size(); ++i) {
    if (present_[i]) order_.push_back(i);
  }
  std::sort(order_.begin(), order_.end(), [this](uint32_t a, uint32_t b) { return values_[a] > values_[b]; });
  ranks_.assign(values_.size(), static_cast<float>(present_count_ + 1));
  for (size_t first = 0; first < order_.size();) {
    size_t last = first;
    while (last + 1 < order_.size() && values_[order_[last + 1]] == values_[order_[first]]) ++last;
    const float middle = 1.f + 0.5f * static_cast<float>(first + last);
    for (size_t i = first; i <= last; ++i) ranks_[order_[i]] = middle;
    first = last + 1;
  }
  ranked_ = true;
  return ranks_;
}

}  // namespace waymark
