// How many units a test needs, and what it can see with those it has. Two groups of equal size, two-sided,
// normal approximation: n = (z_{1 - alpha/2} + z_power)^2 (v_control + v_treatment) / effect^2 a group
// (Lehr 1992; van Belle: Statistical Rules of Thumb, 2008, chapter 2).
//
//   double n = UnitsPerGroup({.effect = .3, .control_variance = 100, .treatment_variance = 100});   //
//   19951.99
#pragma once

namespace waymark::statistics {

struct PowerQuestion {
  double effect = 0;  // absolute
  double control_variance = 0, treatment_variance = 0;
  double alpha = 0.05, power = 0.8;
};

// Not rounded. Infinite for an effect of 0.
double UnitsPerGroup(const PowerQuestion& question);
// Of a proportion p the variance is p (1 - p), here of p and of p + effect.
PowerQuestion ProportionQuestion(double baseline, double effect, double alpha, double power);
// The smallest absolute effect that `units` a group find with that power; `effect` is not read.
double MinimalDetectableEffect(const PowerQuestion& question, double units);
// The chance to find `effect` with `units` a group; `power` is not read.
double PowerWith(const PowerQuestion& question, double units);

}  // namespace waymark::statistics
