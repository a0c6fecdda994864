// The same effect as chances: how likely the treatment is better, and what is lost on average by choosing
// wrongly. For reading; what decides is valid at every look, and these are not.
#pragma once
#include "experiment/statistics/effect.h"

namespace waymark::statistics {

struct NormalPrior {
  bool flat = true;
  double mean = 0, variance = 0;  // of the effect, when not flat
};

struct BayesResult {
  double estimate = 0, deviation = 0;  // of the posterior
  double chance_to_win = 0.5;          // P(effect > 0)
  // Expected loss: E max(0, effect) when the control is kept, E max(0, -effect) when the treatment is chosen.
  double control_risk = 0, treatment_risk = 0;
  double low = 0, high = 0;  // credible interval
};

// Posterior N(m, s^2) of the effect: precision-weighted mean of prior and estimate; E max(0, X) = s phi(m /
// s) + m Phi(m / s). (Stucchio: Bayesian A/B Testing at VWO, 2015, for the expected loss.)
BayesResult Bayes(const Effect& effect, const NormalPrior& prior, double alpha);

}  // namespace waymark::statistics
