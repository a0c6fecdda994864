#include <cmath>

#include "experiment/statistics/bayes.h"
#include "experiment/statistics/benjamini_hochberg.h"
#include "experiment/statistics/confidence_sequence.h"
#include "experiment/statistics/cuped.h"
#include "experiment/statistics/holm.h"
#include "experiment/statistics/msprt.h"
#include "experiment/statistics/post_stratification.h"
#include "experiment/statistics/power.h"
#include "experiment/statistics/quantile_metric.h"
#include "experiment/statistics/ratio_metric.h"
#include "experiment/statistics/sample_ratio.h"
#include "experiment/statistics/welch.h"
#include "experiment/statistics/winsorised.h"
#include "tests/support/catch.h"

namespace waymark::statistics {
namespace {

Approx Near(double value, double margin = 6e-6) { return Approx(value).epsilon(0).margin(margin); }

Effect Of(const Moments& control, const Moments& treatment, Scale scale) {
  const auto effect = EffectOf(MeanOf(control), MeanOf(treatment), scale);
  REQUIRE(effect.ok());
  return *effect;
}

const Moments kA{3407, 1396.87, 52377.9767}, kB{3461, 2422.7, 134698.29};

TEST_CASE("Welch's test gives the published relative and absolute lift") {
  const TestResult relative = WelchTest(Of(kA, kB, Scale::kRelative), .05);
  CHECK(relative.estimate == Near(.70732));
  CHECK(relative.standard_error == Near(.37879));
  CHECK(relative.low == Near(-.03526));
  CHECK(relative.high == Near(1.44989));
  CHECK(relative.p_value == Near(.06191));
  const TestResult absolute = WelchTest(Of(kA, kB, Scale::kAbsolute), .05);
  CHECK(absolute.estimate == Near(.29));
  CHECK(absolute.low == Near(.04538));
  CHECK(absolute.high == Near(.53462));
  CHECK(absolute.p_value == Near(.02016));
}

TEST_CASE("The confidence sequence gives the published interval") {
  Moments a = kA;
  a.n = 3000;
  const TestResult result = ConfidenceSequence(Of(a, kB, Scale::kRelative), {.alpha = .05, .tuning = 1000});
  CHECK(result.estimate == Near(.50336));
  CHECK(result.low == Near(-.55844));
  CHECK(result.high == Near(1.56516));
}

TEST_CASE("Sequential intervals leave 0 out exactly when their p-value is under alpha") {
  for (double estimate = 0; estimate < 1; estimate += .01) {
    const Effect effect{estimate, .01, 5000, 4998};
    const TestResult sequence = ConfidenceSequence(effect, {.alpha = .05, .tuning = 2000});
    CHECK((sequence.low > 0) == (sequence.p_value < .05));
    const TestResult mixture = Msprt(effect, {.alpha = .05, .tau = .1});
    CHECK((mixture.low > 0) == (mixture.p_value < .05));
    // The confidence sequence is the mixture's with tau^2 = rho^2 V.
    const double log_alpha = -2 * std::log(.05), rho_squared = (log_alpha + std::log(log_alpha + 1)) / 2000;
    const TestResult same = Msprt(effect, {.alpha = .05, .tau = std::sqrt(rho_squared * .01 * 5000)});
    CHECK(same.low == Approx(sequence.low).margin(1e-9));
    CHECK(same.p_value == Approx(sequence.p_value).epsilon(1e-9));
  }
}

TEST_CASE("CUPED gives the published theta, lift and p-value") {
  const PairMoments control{{3001, 300, 600}, {3001, 210, 415}, -20};
  const PairMoments treatment{{3000, 222, 555}, {3000, 120, 405}, -10};
  PairMoments pooled = control;
  pooled.Merge(treatment);
  const double theta = CupedTheta(pooled);
  CHECK(theta == Near(-.073212));
  const auto effect = EffectOf(CupedMean(control, theta), CupedMean(treatment, theta), Scale::kRelative);
  REQUIRE(effect.ok());
  const TestResult result = WelchTest(*effect, .05);
  CHECK(result.estimate == Near(-.28170715, 1e-8));
  CHECK(result.p_value == Near(.00374, 1e-5));
}

TEST_CASE("Bayes gives the published chance and risks") {
  const ArmEstimate a{100, .49, .49 * .51, .49}, b{100, .51, .49 * .51, .51};
  const auto effect = EffectOf(a, b, Scale::kRelative);
  REQUIRE(effect.ok());
  const BayesResult result = Bayes(*effect, {}, .05);
  CHECK(result.estimate == Near(.04082));
  CHECK(result.deviation == Near(.14725));
  CHECK(result.chance_to_win == Near(.60918));
  CHECK(result.control_risk == Near(.0814, 5e-5));
  CHECK(result.treatment_risk == Near(.04058));
  // Half way between prior and data when both are as sure.
  const BayesResult shrunk = Bayes(*effect, {.flat = false, .mean = 0, .variance = effect->variance}, .05);
  CHECK(shrunk.estimate == Approx(effect->estimate / 2));
  CHECK(shrunk.deviation == Approx(result.deviation / std::sqrt(2)));
}

TEST_CASE("Corrections give the published p-values") {
  const auto holm = HolmAdjusted({.01, .04, .03, .005, .55, .6});
  const double expected_holm[] = {.05, .12, .12, .03, 1, 1};
  for (size_t i = 0; i < 6; ++i) CHECK(holm[i] == Approx(expected_holm[i]));
  const auto bh = BenjaminiHochbergAdjusted({.898, .138, .007, .964, .538, .006, .138});
  const double expected_bh[] = {.964, .2415, .0245, .964, .7532, .0245, .2415};
  for (size_t i = 0; i < 7; ++i) CHECK(bh[i] == Approx(expected_bh[i]));
}

TEST_CASE("Power gives the published numbers of units") {
  const PowerQuestion mean{
      .effect = .3, .control_variance = 100, .treatment_variance = 100, .alpha = .05, .power = .85};
  const double units = UnitsPerGroup(mean);
  CHECK(std::ceil(units) == 19952);
  CHECK(std::ceil(2 * units) == 39904);
  const double proportion = UnitsPerGroup(ProportionQuestion(.34, .003, .05, .85));
  CHECK(std::ceil(proportion) == 448672);
  CHECK(2 * proportion == Approx(897343).epsilon(1e-4));
  CHECK(MinimalDetectableEffect(mean, units) == Approx(.3));
  CHECK(PowerWith(mean, units) == Approx(.85).epsilon(1e-4));
}

TEST_CASE("The sample ratio gives the published chi-squared, and blocks or warns") {
  const auto bad = CheckSampleRatio({821588, 815482}, {.5, .5});
  REQUIRE(bad.ok());
  CHECK(bad->chi_squared == Near(22.774, 5e-4));
  CHECK(bad->p_value == Near(1.82e-6, 5e-9));
  CHECK(bad->verdict == SampleRatioVerdict::kBlocks);
  CHECK(CheckSampleRatio({5000, 5050}, {.5, .5})->verdict == SampleRatioVerdict::kFine);
  CHECK(CheckSampleRatio({100, 300}, {.25, .75})->p_value == Approx(1));
  CHECK(absl::IsInvalidArgument(CheckSampleRatio({1, 2}, {1, 0}).status()));
  CHECK(absl::IsInvalidArgument(CheckSampleRatio({1, 2}, {1}).status()));
}

TEST_CASE("A ratio's variance is that of its linearisation") {
  // Worked by hand: y = (1, 2, 6), x = (1, 2, 3): R = 9/6, y - R x = (-.5, -1, 1.5), variance 1.75, mean x 2.
  PairMoments arm;
  arm.Add(1, 1), arm.Add(2, 2), arm.Add(6, 3);
  const auto ratio = RatioOf(arm);
  REQUIRE(ratio.ok());
  CHECK(ratio->mean == Approx(1.5));
  CHECK(ratio->variance == Approx(1.75 / 4));
  CHECK(absl::IsFailedPrecondition(RatioOf({}).status()));
}

TEST_CASE("Quantiles: the value, an interval from ranks, and a refusal where there are too few units") {
  std::vector<double> values;
  for (int i = 1000; i >= 1; --i) values.push_back(i);
  const auto median = QuantileEstimate(values, .5);
  REQUIRE(median.ok());
  CHECK(median->mean == 500);
  // Ranks 469 and 531.
  CHECK(std::sqrt(median->variance / 1000) == Approx(62 / (2 * 1.959963984540054)));
  const auto few = QuantileEstimate({1, 2, 3}, .99);
  CHECK(absl::IsFailedPrecondition(few.status()));
}

TEST_CASE("Winsorising cuts all arms at one value") {
  const std::vector<double> values{0, 0, 1, 2, 3, 100};
  CHECK(WinsorCap(values, .75, false) == 3);
  CHECK(WinsorCap(values, .5, true) == 2);
  const Moments capped = CappedMoments(values, 3);
  CHECK(capped.sum == 9);
  CHECK(capped.sum_squares == 1 + 4 + 9 + 9);
}

TEST_CASE("Post-stratification weights strata by their share of all units") {
  const auto whole = PostStratified({{10, 1, 4, 1}, {90, 3, 9, 3}}, {.5, .5});
  REQUIRE(whole.ok());
  CHECK(whole->mean == Approx(2));
  CHECK(whole->variance / whole->n == Approx(.25 * .4 + .25 * .1));
  CHECK(whole->unadjusted_mean == Approx(2.8));
  CHECK(absl::IsFailedPrecondition(PostStratified({{1, 1, 4, 1}}, {1}).status()));
}

TEST_CASE("Effects that do not exist are refused with the reason") {
  CHECK(absl::IsFailedPrecondition(EffectOf({1, 0, 0, 0}, {5, 1, 1, 1}, Scale::kAbsolute).status()));
  CHECK(absl::IsFailedPrecondition(EffectOf({5, 0, 1, 0}, {5, 1, 1, 1}, Scale::kRelative).status()));
  const TestResult same = WelchTest(Of({10, 5, 2.5}, {10, 5, 2.5}, Scale::kAbsolute), .05);
  CHECK(same.p_value == 1);
  const TestResult sure = WelchTest(Of({10, 5, 2.5}, {10, 10, 10}, Scale::kAbsolute), .05);
  CHECK(sure.p_value == 0);
}

}  // namespace
}  // namespace waymark::statistics
