#include "experiment/statistics/distributions.h"

#include <cmath>

#include "tests/support/catch.h"

namespace waymark::statistics {
namespace {

// Values of Abramowitz and Stegun's tables and of DLMF's relations.
TEST_CASE("The normal distribution") {
  CHECK(NormalCdf(0) == Approx(.5));
  CHECK(NormalCdf(1.959963984540054) == Approx(.975).epsilon(1e-12));
  CHECK(NormalQuantile(.975) == Approx(1.959963984540054).epsilon(1e-12));
  CHECK(NormalQuantile(.025) == Approx(-1.959963984540054).epsilon(1e-12));
  CHECK(NormalQuantile(1e-10) == Approx(-6.361340902404056).epsilon(1e-10));
  CHECK(NormalTail(10) == Approx(7.619853024160527e-24).epsilon(1e-10));
}

TEST_CASE("Student's t: Cauchy's at one degree, the tables' at ten, the normal's at many") {
  CHECK(StudentTail(1, 1) == Approx(.25).epsilon(1e-12));
  CHECK(StudentTail(-1, 1) == Approx(.75).epsilon(1e-12));
  CHECK(StudentQuantile(.975, 1) == Approx(12.706204736432095).epsilon(1e-9));
  CHECK(StudentQuantile(.975, 10) == Approx(2.2281388519649385).epsilon(1e-10));
  CHECK(StudentQuantile(.05, 2) == Approx(-2.919985580353726).epsilon(1e-10));
  CHECK(StudentTail(1.96, 1e8) == Approx(NormalTail(1.96)).epsilon(1e-6));
  CHECK(StudentTail(1.96, 1e12) == NormalTail(1.96));
  CHECK(TwoSidedStudent(0, 5) == Approx(1));
}

TEST_CASE("Chi-squared: two degrees are an exponential, one is a squared normal") {
  CHECK(ChiSquaredTail(5, 2) == Approx(std::exp(-2.5)).epsilon(1e-12));
  CHECK(ChiSquaredTail(3.841458820694124, 1) == Approx(.05).epsilon(1e-10));
  CHECK(ChiSquaredTail(0.3, 1) == Approx(2 * NormalTail(std::sqrt(.3))).epsilon(1e-12));
  CHECK(ChiSquaredTail(18.307038053275146, 10) == Approx(.05).epsilon(1e-10));
  CHECK(ChiSquaredTail(0, 3) == 1);
}

TEST_CASE("A fair coin: seven of eight") {
  CHECK(FairCoinTail(7, 8) == Approx(9.0 / 256).epsilon(1e-12));
  CHECK(FairCoinTail(0, 8) == 1);
  CHECK(FairCoinTail(8, 8) == Approx(1.0 / 256).epsilon(1e-12));
}

}  // namespace
}  // namespace waymark::statistics
