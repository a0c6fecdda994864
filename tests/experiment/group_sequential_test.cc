#include "experiment/statistics/group_sequential.h"

#include <cmath>
#include <random>

#include "tests/support/catch.h"

namespace waymark::statistics {
namespace {

// As Lan and DeMets' program (ldbounds, gsDesign) gives them, two-sided 5% over five equal looks.
TEST_CASE("Boundaries of five equal looks, by both ways of spending") {
  const auto obrien = GroupSequential({.2, .4, .6, .8, 1}, {});
  REQUIRE(obrien.ok());
  const double expected[] = {4.8769, 3.3569, 2.6803, 2.2898, 2.0310};
  for (size_t i = 0; i < 5; ++i) CHECK((*obrien)[i].z == Approx(expected[i]).epsilon(0).margin(5e-4));
  CHECK((*obrien)[4].spent_alpha == Approx(.05));
  const auto pocock = GroupSequential({.2, .4, .6, .8, 1}, {.spending = Spending::kPocock});
  REQUIRE(pocock.ok());
  const double even[] = {2.4380, 2.4268, 2.4101, 2.3966, 2.3859};
  for (size_t i = 0; i < 5; ++i) CHECK((*pocock)[i].z == Approx(even[i]).epsilon(0).margin(5e-4));
}

TEST_CASE("One look is the plain test") {
  const auto one = GroupSequential({1.0}, {});
  REQUIRE(one.ok());
  CHECK((*one)[0].z == Approx(1.95996).epsilon(1e-5));
  CHECK((*one)[0].nominal_p == Approx(.05).epsilon(1e-4));
}

TEST_CASE("Of A/A tests that look three times, 5% are found") {
  const auto boundaries = GroupSequential({.3, .6, 1}, {.spending = Spending::kPocock});
  REQUIRE(boundaries.ok());
  std::mt19937_64 random(8);
  std::normal_distribution<double> normal;
  int found = 0;
  constexpr int kTests = 20000;
  for (int test = 0; test < kTests; ++test) {
    double sum = 0, before = 0;
    for (const Boundary& boundary : *boundaries) {
      sum += std::sqrt(boundary.share - before) * normal(random);
      before = boundary.share;
      if (std::abs(sum) / std::sqrt(boundary.share) < boundary.z) continue;
      ++found;
      break;
    }
  }
  CHECK(found / double{kTests} == Approx(.05).margin(3 * std::sqrt(.05 * .95 / kTests)));
}

// Power by simulation of the sums themselves, at the drift that the factor stands for; O'Brien-Fleming's own
// five looks take 1.028 times the units at power .8 (Jennison, Turnbull 2000, table 2.4), spending like them
// next to it.
TEST_CASE("The units that looks take find the effect with the power that was asked for") {
  const std::vector<double> shares = {.2, .4, .6, .8, 1};
  CHECK(*UnitsFactor(shares, {}, .8) == Approx(1.028).margin(.01));
  CHECK(*UnitsFactor({1.0}, {}, .8) == Approx(1).margin(1e-4));
  for (const Spending spending : {Spending::kPocock, Spending::kObrienFleming}) {
    const GroupSequentialOptions options{.spending = spending};
    const auto boundaries = GroupSequential(shares, options);
    const double drift = (1.959964 + .841621) * std::sqrt(*UnitsFactor(shares, options, .8));
    std::mt19937_64 random(11);
    std::normal_distribution<double> normal;
    constexpr int kTests = 40000;
    int found = 0;
    for (int test = 0; test < kTests; ++test) {
      double sum = 0, before = 0;
      for (const Boundary& boundary : *boundaries) {
        sum += drift * (boundary.share - before) + std::sqrt(boundary.share - before) * normal(random);
        before = boundary.share;
        if (std::abs(sum) / std::sqrt(boundary.share) < boundary.z) continue;
        ++found;
        break;
      }
    }
    CHECK(found / double{kTests} == Approx(.8).margin(3 * std::sqrt(.8 * .2 / kTests)));
  }
  CHECK(absl::IsInvalidArgument(UnitsFactor(shares, {}, .04).status()));
}

TEST_CASE("Looks that cannot be are refused") {
  CHECK(absl::IsInvalidArgument(GroupSequential({.5, .4, 1}, {}).status()));
  CHECK(absl::IsInvalidArgument(GroupSequential({.5}, {}).status()));
  CHECK(absl::IsInvalidArgument(GroupSequential({}, {}).status()));
  CHECK(absl::IsInvalidArgument(GroupSequential({1.0}, {.alpha = .6}).status()));
}

}  // namespace
}  // namespace waymark::statistics
