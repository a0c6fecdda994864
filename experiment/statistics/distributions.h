// The distributions that tests need. Tails are computed as tails, so that small p-values keep their digits.
//
//   double p = 2 * NormalTail(3.1);            // .00194
//   double t = StudentQuantile(.975, 10);      // 2.2281
#pragma once

namespace waymark::statistics {

double NormalDensity(double z);
double NormalCdf(double z);
double NormalTail(double z);  // P(Z > z)
// 0 < p < 1.
double NormalQuantile(double p);

// P(T > t), Student's t. By the incomplete beta function, DLMF 8.17(i) and its continued fraction 8.17.22.
double StudentTail(double t, double degrees);
double StudentQuantile(double p, double degrees);
double TwoSidedStudent(double t, double degrees);  // P(|T| > |t|)

// P(X > x), chi-squared: the upper incomplete gamma function, DLMF 8.2.4, 8.7.1 and 8.9.2.
double ChiSquaredTail(double x, double degrees);

// P(X >= successes) of `trials` with chance 1/2 each: I_{1/2}(k, n - k + 1), DLMF 8.17.5.
double FairCoinTail(double successes, double trials);

}  // namespace waymark::statistics
