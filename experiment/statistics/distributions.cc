#include "experiment/statistics/distributions.h"

#include <math.h>

#include <cmath>
#include <limits>

namespace waymark::statistics {
namespace {

constexpr double kTiny = 1e-300;
constexpr double kPrecision = 1e-15;
constexpr int kMostSteps = 20000;
// From here on Student's t is the normal distribution to the precision of a double.
constexpr double kNormalDegrees = 1e10;

// std::lgamma writes a global sign.
double LogGamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

double AwayFromZero(double x) { return std::abs(x) < kTiny ? kTiny : x; }

// Lentz's method.
double BetaFraction(double a, double b, double x) {
  double c = 1, d = 1 / AwayFromZero(1 - (a + b) * x / (a + 1)), value = d;
  for (int m = 1; m < kMostSteps; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / AwayFromZero(1 + even * d);
    c = AwayFromZero(1 + even / c);
    value *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / AwayFromZero(1 + odd * d);
    c = AwayFromZero(1 + odd / c);
    value *= d * c;
    if (std::abs(d * c - 1) < kPrecision) break;
  }
  return value;
}

// I_x(a, b); y = 1 - x is given, since it may be too small to be told from x.
double RegularizedBeta(double a, double b, double x, double y) {
  if (x <= 0) return 0;
  if (y <= 0) return 1;
  const double front =
      std::exp(LogGamma(a + b) - LogGamma(a) - LogGamma(b) + a * std::log(x) + b * std::log(y));
  if (x < (a + 1) / (a + b + 2)) return front * BetaFraction(a, b, x) / a;
  return 1 - front * BetaFraction(b, a, y) / b;
}

// The x > 0 with tail(x) = q, q <= 1/2. Newton from a `start` that does not lie above it: the density falls
// on this side, so no step goes too far.
template <typename Tail, typename Density>
double QuantileOfTail(double q, double start, Tail tail, Density density) {
  double x = start;
  for (int i = 0; i < 500; ++i) {
    const double step = (tail(x) - q) / density(x);
    if (!(std::abs(step) > kPrecision * (1 + x))) break;
    x += step;
  }
  return x;
}

double StudentDensity(double t, double degrees) {
  return std::exp(LogGamma((degrees + 1) / 2) - LogGamma(degrees / 2) -
                  (degrees + 1) / 2 * std::log1p(t * t / degrees)) /
         std::sqrt(degrees * M_PI);
}

double GammaSeries(double a, double x) {
  double term = 1 / a, sum = term;
  for (int n = 1; n < kMostSteps && term > sum * kPrecision; ++n) sum += term *= x / (a + n);
  return sum * std::exp(a * std::log(x) - x - LogGamma(a));
}

double GammaFraction(double a, double x) {
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / AwayFromZero(b), value = d;
  for (int i = 1; i < kMostSteps; ++i) {
    const double factor = -i * (i - a);
    b += 2;
    d = 1 / AwayFromZero(factor * d + b);
    c = AwayFromZero(b + factor / c);
    value *= d * c;
    if (std::abs(d * c - 1) < kPrecision) break;
  }
  return value * std::exp(a * std::log(x) - x - LogGamma(a));
}

}  // namespace

double NormalDensity(double z) { return std::exp(-z * z / 2) / std::sqrt(2 * M_PI); }
double NormalTail(double z) { return std::erfc(z * M_SQRT1_2) / 2; }
double NormalCdf(double z) { return NormalTail(-z); }

double NormalQuantile(double p) {
  if (p > 0.5) return -NormalQuantile(1 - p);
  return -QuantileOfTail(p, 0, NormalTail, NormalDensity);
}

double StudentTail(double t, double degrees) {
  if (degrees > kNormalDegrees) return NormalTail(t);
  if (t < 0) return 1 - StudentTail(-t, degrees);
  const double square = t * t;
  return RegularizedBeta(degrees / 2, 0.5, degrees / (degrees + square), square / (degrees + square)) / 2;
}

double StudentQuantile(double p, double degrees) {
  if (degrees > kNormalDegrees) return NormalQuantile(p);
  if (p > 0.5) return -StudentQuantile(1 - p, degrees);
  // Its tails are heavier than the normal's.
  return -QuantileOfTail(
      p, -NormalQuantile(p), [&](double t) { return StudentTail(t, degrees); },
      [&](double t) { return StudentDensity(t, degrees); });
}

double TwoSidedStudent(double t, double degrees) { return 2 * StudentTail(std::abs(t), degrees); }

double ChiSquaredTail(double x, double degrees) {
  if (x <= 0) return 1;
  const double a = degrees / 2, half = x / 2;
  return half < a + 1 ? 1 - GammaSeries(a, half) : GammaFraction(a, half);
}

double FairCoinTail(double successes, double trials) {
  if (successes <= 0) return 1;
  return successes > trials ? 0 : RegularizedBeta(successes, trials - successes + 1, 0.5, 0.5);
}

}  // namespace waymark::statistics
