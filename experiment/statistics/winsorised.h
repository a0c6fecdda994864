// Heavy tails capped: one whale must not decide a test.
#pragma once
#include "absl/types/span.h"
#include "experiment/statistics/moments.h"

namespace waymark::statistics {

// The cap for a share q of the units: the q-quantile of the units of all arms together, so that arms are cut
// alike (Kohavi, Tang, Xu: Trustworthy Online Controlled Experiments, 2020, chapter 22; a winsorised mean is
// of Tukey 1962). Of the values over 0 alone where `positive_only`: most units of a sparse metric are 0.
double WinsorCap(absl::Span<const double> values, double q, bool positive_only);
Moments CappedMoments(absl::Span<const double> values, double cap);

}  // namespace waymark::statistics
