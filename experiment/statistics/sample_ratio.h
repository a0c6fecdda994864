// Whether the arms got the shares of units that they should have. When they did not, something loses or
// doubles units in one arm, and no figure of the report can be trusted.
#pragma once
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace waymark::statistics {

inline constexpr double kSampleRatioWarns = 0.01, kSampleRatioBlocks = 0.001;

enum class SampleRatioVerdict { kFine, kWarns, kBlocks };

struct SampleRatio {
  double chi_squared = 0, p_value = 1;
  SampleRatioVerdict verdict = SampleRatioVerdict::kFine;
};

// Pearson's chi-squared of the counts against the weights, arms - 1 degrees (Fabijan et al.: Diagnosing
// Sample Ratio Mismatch in Online Controlled Experiments, KDD 2019). counts, weights: [arms]; weights need
// not add up to 1. INVALID_ARGUMENT: other lengths, a weight not over 0.
absl::StatusOr<SampleRatio> CheckSampleRatio(absl::Span<const double> counts,
                                             absl::Span<const double> weights);

}  // namespace waymark::statistics
