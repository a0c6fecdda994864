#include "experiment/statistics/post_stratification.h"

#include "absl/strings/str_cat.h"

namespace waymark::statistics {

absl::StatusOr<ArmEstimate> PostStratified(absl::Span<const ArmEstimate> strata,
                                           absl::Span<const double> weights) {
  ArmEstimate whole;
  double sum = 0, variance_of_mean = 0, unadjusted = 0;
  for (size_t s = 0; s < strata.size(); ++s) {
    if (strata[s].n < 2) {
      return absl::FailedPreconditionError(
          absl::StrCat("stratum ", s, " has ", strata[s].n, " units in an arm; merge it with another"));
    }
    whole.n += strata[s].n;
    sum += weights[s] * strata[s].mean;
    unadjusted += strata[s].n * strata[s].unadjusted_mean;
    variance_of_mean += weights[s] * weights[s] * strata[s].variance / strata[s].n;
  }
  if (whole.n == 0) return absl::FailedPreconditionError("there are no strata");
  whole.mean = sum;
  whole.variance = variance_of_mean * whole.n;
  whole.unadjusted_mean = unadjusted / whole.n;
  return whole;
}

}  // namespace waymark::statistics
