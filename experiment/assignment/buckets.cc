#include "experiment/assignment/buckets.h"

namespace waymark {

std::vector<BucketRange> ArmRanges(absl::Span<const double> weights, double coverage) {
  std::vector<BucketRange> ranges;
  double begin = 0;
  for (const double weight : weights) {
    ranges.push_back({begin, begin + coverage * weight});
    begin += weight;
  }
  // The sum of weights may fall short of 1 by rounding; PlanOut's largest hash is 1 itself.
  if (!ranges.empty() && coverage == 1) ranges.back().end = 1.0000001;
  return ranges;
}

std::optional<int> ArmOf(absl::Span<const BucketRange> ranges, double bucket) {
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (bucket >= ranges[i].begin && bucket < ranges[i].end) return static_cast<int>(i);
  }
  return std::nullopt;
}

}  // namespace waymark
