// Histories of the public data sets, for tests: one event a row, sorted stably by (time, row of the file).
#pragma once
#include <optional>

#include "recommend/interactions.h"

namespace waymark::tests {

// Ordinals are given in the order of first appearance. Offsets are places in the order of time.
// Amazon Beauty 5-core; it has no times, so an event's time is its position in seconds.
Interactions LoadBeauty();
// MovieLens ml-latest-small: every rating counts.
Interactions LoadMovieLensSmall();
// MovieLens ml-100k as RecBole's wheel carries it, from $WAYMARK_ML100K (the file ml-100k.inter); none:
// not set.
std::optional<Interactions> LoadMovieLens100k();

}  // namespace waymark::tests
