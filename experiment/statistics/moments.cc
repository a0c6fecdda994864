#include "experiment/statistics/moments.h"

#include <algorithm>

namespace waymark::statistics {

void Moments::Merge(const Moments& other) {
  n += other.n;
  sum += other.sum;
  sum_squares += other.sum_squares;
}

double Moments::Variance() const {
  if (n < 2) return 0;
  return std::max(0.0, (sum_squares - sum * sum / n) / (n - 1));
}

void PairMoments::Add(double y_value, double x_value) {
  y.Add(y_value);
  x.Add(x_value);
  sum_products += y_value * x_value;
}

void PairMoments::Merge(const PairMoments& other) {
  y.Merge(other.y);
  x.Merge(other.x);
  sum_products += other.sum_products;
}

double PairMoments::Covariance() const {
  return y.n < 2 ? 0 : (sum_products - y.sum * x.sum / y.n) / (y.n - 1);
}

}  // namespace waymark::statistics
