// Sums that are enough for every mean-like metric: they add up over units, so a report never keeps values.
//
//   Moments m;
//   m.Add(3.5);
//   m.Mean(), m.Variance();
#pragma once

namespace waymark::statistics {

struct Moments {
  double n = 0, sum = 0, sum_squares = 0;

  void Add(double x) { ++n, sum += x, sum_squares += x * x; }
  void Merge(const Moments& other);
  double Mean() const { return n > 0 ? sum / n : 0; }
  // Unbiased; 0 with less than two units.
  double Variance() const;
};

// Of two values of the same unit: a numerator with its denominator, a metric with its past.
struct PairMoments {
  Moments y, x;
  double sum_products = 0;

  void Add(double y_value, double x_value);
  void Merge(const PairMoments& other);
  double Covariance() const;
};

}  // namespace waymark::statistics
