// CUPED: takes out of a metric what the units' own past explains. The variance shrinks by 1 - rho^2, where
// rho is the correlation with the past.
#pragma once
#include "experiment/statistics/effect.h"

namespace waymark::statistics {

// Deng, Xu, Kohavi, Walker: Improving the Sensitivity of Online Controlled Experiments by Utilizing
// Pre-Experiment Data, WSDM 2013, equations 2 to 4. theta = cov(y, x) / var(x) over the units of all arms
// together; y - theta x has mean y - theta x and variance var(y) + theta^2 var(x) - 2 theta cov(y, x). The
// mean is left without the constant theta mean(x), which differences do not see; a relative lift is over the
// unadjusted mean.
double CupedTheta(const PairMoments& pooled);
ArmEstimate CupedMean(const PairMoments& arm, double theta);

}  // namespace waymark::statistics
