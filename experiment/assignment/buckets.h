// How [0, 1) is cut among arms. Each arm owns a stretch as long as its weight, and only the first part of it,
// the coverage, is taken in. So a coverage that grows takes in new units and moves nobody.
//
//   auto ranges = ArmRanges({.5, .5}, .1);    // [0, .05) and [.5, .55)
//   ArmOf(ranges, .52)                        // 1
#pragma once
#include <optional>
#include <vector>

#include "absl/types/span.h"

namespace waymark {

struct BucketRange {
  double begin = 0, end = 0;  // begin in it, end not
};

// weights: [arms], which add up to 1; 0 <= coverage <= 1.
std::vector<BucketRange> ArmRanges(absl::Span<const double> weights, double coverage);
// None: the bucket is not covered.
std::optional<int> ArmOf(absl::Span<const BucketRange> ranges, double bucket);

}  // namespace waymark
