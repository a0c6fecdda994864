#include "training/evaluation/recommend_metrics.h"

#include <algorithm>
#include <cmath>

namespace waymark {

double MiddleRank(absl::Span<const float> scores, size_t target) {
  const float score = scores[target];
  size_t better = 0, equal = 0;
  for (float other : scores) {
    better += other > score;
    equal += other == score;
  }
  return 1 + static_cast<double>(better) + static_cast<double>(equal - 1) / 2;
}

double HitAt(double rank, size_t k) { return rank <= static_cast<double>(k) ? 1 : 0; }

double NdcgAtRank(double rank, size_t k) { return HitAt(rank, k) == 0 ? 0 : 1 / std::log2(1 + rank); }

double SelfInformation(uint64_t users_of_item, uint64_t users) {
  const double met = static_cast<double>(std::max<uint64_t>(users_of_item, 1));
  return std::log2(static_cast<double>(std::max<uint64_t>(users, 1)) / met);
}

void RecommendMetrics::AddRank(double rank) {
  const double gain = NdcgAtRank(rank, k_);
  ++users_;
  hits_ += HitAt(rank, k_);
  gains_ += gain;
  squares_ += gain * gain;
}

void RecommendMetrics::AddList(absl::Span<const uint32_t> list, absl::Span<const uint64_t> users_of,
                               uint64_t users) {
  for (size_t i = 0; i < std::min(k_, list.size()); ++i) {
    shown_.insert(list[i]);
    information_ += SelfInformation(users_of[i], users);
    ++places_;
  }
}

double RecommendMetrics::coverage() const {
  return catalogue_ == 0 ? 0 : static_cast<double>(shown_.size()) / static_cast<double>(catalogue_);
}

double RecommendMetrics::novelty() const {
  return places_ == 0 ? 0 : information_ / static_cast<double>(places_);
}

double RecommendMetrics::Error(double sum, double squares) const {
  if (users_ < 2) return 0;
  const double n = static_cast<double>(users_);
  const double variance = (squares - sum * sum / n) / (n - 1);
  return std::sqrt(std::max(0.0, variance) / n);
}

}  // namespace waymark
