#include "experiment/statistics/effect.h"

#include <limits>

#include "absl/strings/str_cat.h"

namespace waymark::statistics {

ArmEstimate MeanOf(const Moments& moments) {
  return {moments.n, moments.Mean(), moments.Variance(), moments.Mean()};
}

absl::StatusOr<Effect> EffectOf(const ArmEstimate& control, const ArmEstimate& treatment, Scale scale) {
  if (control.n < 2 || treatment.n < 2) {
    return absl::FailedPreconditionError(absl::StrCat("an effect needs two units in each arm; there are ",
                                                      control.n, " and ", treatment.n, ": wait for more"));
  }
  const double c = control.variance / control.n, t = treatment.variance / treatment.n;
  Effect effect{.estimate = treatment.mean - control.mean, .variance = c + t, .n = control.n + treatment.n};
  const double spread = c * c / (control.n - 1) + t * t / (treatment.n - 1);
  effect.degrees = spread > 0 ? (c + t) * (c + t) / spread : effect.n - 2;
  if (scale == Scale::kAbsolute) return effect;
  const double base = control.unadjusted_mean, other = treatment.unadjusted_mean;
  if (base <= 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the control's mean is ", base, ", so there is no relative lift: read the absolute one"));
  }
  effect.estimate /= base;
  effect.variance = t / (base * base) + c * other * other / (base * base * base * base);
  return effect;
}

}  // namespace waymark::statistics
