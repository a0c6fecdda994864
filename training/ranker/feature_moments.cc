#include "training/ranker/feature_moments.h"

#include <algorithm>
#include <cmath>

namespace waymark {

void FeatureMoments::Merge(const FeatureMoments& other) {
  if (other.rows == 0) return;
  const double all = rows + other.rows;
  for (size_t c = 0; c < mean.size(); ++c) {
    const double apart = other.mean[c] - mean[c];
    squares[c] += other.squares[c] + apart * apart * rows * other.rows / all;
    mean[c] += apart * other.rows / all;
  }
  rows = all;
}

double FeatureMoments::Scale(size_t column) const {
  const double deviation = std::sqrt(squares[column] / rows);
  const bool constant = !(deviation > 1e-6 * std::max(1.0, std::abs(mean[column])));
  return constant ? 1.0 : deviation;
}

FeatureMoments MomentsOf(const RankingLists& lists, absl::Span<const size_t> chosen) {
  const size_t columns = lists.feature_count();
  FeatureMoments moments(columns);
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t i : chosen) {
      const RankingList list = lists[i];
      if (pass == 0) moments.rows += static_cast<double>(list.candidates.size());
      for (size_t at = 0; at < list.features.size(); ++at) {
        const size_t c = at % columns;
        if (pass == 0) {
          moments.mean[c] += list.features[at];
        } else {
          const double d = list.features[at] - moments.mean[c];
          moments.squares[c] += d * d;
        }
      }
    }
    if (pass == 0) {
      for (double& mean : moments.mean) mean /= std::max(moments.rows, 1.0);
    }
  }
  return moments;
}

}  // namespace waymark
