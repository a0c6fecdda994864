// Intervals that hold at every look at once: whoever looks daily and stops when 0 is outside still errs with
// at most alpha. What reports decide by.
#pragma once
#include "experiment/statistics/effect.h"

namespace waymark::statistics {

struct ConfidenceSequenceOptions {
  double alpha = 0.05;
  // The number of units (both arms) at which the interval is tightest: rho^2 = (-2 ln a + ln(1 - 2 ln a)) /
  // N*.
  double tuning = 5000;
};

// The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (Time-uniform central
// limit theory and asymptotic confidence sequences, arXiv 2103.06476v7): with N units and V = N
// variance(estimate),
//   half-width = sqrt(V) sqrt(2 (N rho^2 + 1) / (N rho)^2 ln(sqrt(N rho^2 + 1) / alpha))     (theorem 2.2)
//   p = min(1, sqrt(N rho^2 + 1) exp(-rho^2 N^2 estimate^2 / (2 V (N rho^2 + 1))))           (by its
//   inversion)
// rho as GrowthBook tunes it (the one that minimises the width at N*, appendix C of the paper).
TestResult ConfidenceSequence(const Effect& effect, const ConfidenceSequenceOptions& options);

}  // namespace waymark::statistics
