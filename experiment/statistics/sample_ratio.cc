#include "experiment/statistics/sample_ratio.h"

#include <numeric>

#include "absl/strings/str_cat.h"
#include "experiment/statistics/distributions.h"

namespace waymark::statistics {

absl::StatusOr<SampleRatio> CheckSampleRatio(absl::Span<const double> counts,
                                             absl::Span<const double> weights) {
  if (counts.size() != weights.size() || counts.size() < 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("a sample ratio takes a weight for each of at least two arms; there are ", counts.size(),
                     " counts and ", weights.size(), " weights"));
  }
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  const double weight = std::accumulate(weights.begin(), weights.end(), 0.0);
  SampleRatio ratio;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (!(weights[i] > 0)) {
      return absl::InvalidArgumentError(
          absl::StrCat("weight ", i, " is ", weights[i], "; it must be over 0"));
    }
    const double expected = all * weights[i] / weight;
    if (expected > 0) ratio.chi_squared += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  ratio.p_value = ChiSquaredTail(ratio.chi_squared, static_cast<double>(counts.size() - 1));
  if (ratio.p_value < kSampleRatioBlocks) {
    ratio.verdict = SampleRatioVerdict::kBlocks;
  } else if (ratio.p_value < kSampleRatioWarns) {
    ratio.verdict = SampleRatioVerdict::kWarns;
  }
  return ratio;
}

}  // namespace waymark::statistics
