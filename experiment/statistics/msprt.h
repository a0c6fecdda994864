// The mixture sequential probability ratio test: always valid, too; sharper than a confidence sequence when
// the size of effects is known beforehand.
#pragma once
#include "experiment/statistics/effect.h"

namespace waymark::statistics {

struct MsprtOptions {
  double alpha = 0.05;
  // Standard deviation of effects as they are expected: the mixture is N(0, tau^2).
  double tau = 0.01;
};

// Johari, Pekelis, Walsh: Always Valid Inference, arXiv 1512.04922, section 6.1. With V = variance(estimate):
//   ratio = sqrt(V / (V + tau^2)) exp(tau^2 estimate^2 / (2 V (V + tau^2))),  p = min(1, 1 / ratio)
//   half-width = sqrt(V (V + tau^2) / tau^2 (2 ln(1 / alpha) + ln((V + tau^2) / V)))
// The p-value of a running test is the smallest of all looks.
TestResult Msprt(const Effect& effect, const MsprtOptions& options);

}  // namespace waymark::statistics
