// Which sealed segments to write anew as one: a decision over sizes alone.
//
// Segments are in tiers by the power of four of their live rows. Four of one tier are merged, so there are
// at most three in each, and a vector is written anew once for each tier: about log4(n / tail) times. A
// segment of which a quarter is dead is written anew by itself.
#pragma once
#include <cstddef>
#include <vector>

#include "absl/types/span.h"

namespace waymark {

struct SegmentSize {
  size_t rows = 0;
  size_t dead = 0;
};

// Positions in `segments`, ascending; empty: nothing to do. Only plans that keep at most `rows_limit` rows
// are made: that is what fits in memory beside the old segments.
std::vector<size_t> PlanMerge(absl::Span<const SegmentSize> segments, size_t rows_limit);

}  // namespace waymark
