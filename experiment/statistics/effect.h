// What every test works on: an arm's estimate, and the difference of two arms with its variance.
//
//   ArmEstimate control = MeanOf(moments_a), treatment = MeanOf(moments_b);
//   auto effect = EffectOf(control, treatment, Scale::kRelative);
//   TestResult result = WelchTest(*effect, .05);
#pragma once
#include "absl/status/statusor.h"
#include "experiment/statistics/moments.h"

namespace waymark::statistics {

enum class Scale { kAbsolute, kRelative };

// variance / n is the variance of `mean`: of a plain mean it is that of the units, of a ratio or a quantile
// what the delta method makes of it.
struct ArmEstimate {
  double n = 0, mean = 0, variance = 0;
  // What a relative lift is relative to: the mean without any adjustment.
  double unadjusted_mean = 0;
};

ArmEstimate MeanOf(const Moments& moments);

struct Effect {
  double estimate = 0;
  double variance = 0;  // of the estimate
  double n = 0;         // units of both arms
  // Welch (1947), Satterthwaite (1946): (a + b)^2 / (a^2 / (n_a - 1) + b^2 / (n_b - 1)), a = variance_a /
  // n_a.
  double degrees = 0;
};

// Absolute: m_t - m_c, variance v_t / n_t + v_c / n_c. Relative: (m_t - m_c) / u_c, by the delta method
// v_t / (n_t u_c^2) + v_c u_t^2 / (n_c u_c^4), u being the unadjusted means (Deng, Knoblich, Lu: Applying the
// Delta Method in Metric Analytics, KDD 2018, section 3.1).
// FAILED_PRECONDITION: an arm with less than two units; a relative lift over a mean that is not above 0.
absl::StatusOr<Effect> EffectOf(const ArmEstimate& control, const ArmEstimate& treatment, Scale scale);

// What a test says of an effect.
struct TestResult {
  double estimate = 0, standard_error = 0;
  double low = 0, high = 0;  // interval of confidence 1 - alpha
  double p_value = 1;        // two-sided, of «no difference»
};

}  // namespace waymark::statistics
