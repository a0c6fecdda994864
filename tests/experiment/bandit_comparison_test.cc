#include "experiment/report/bandit_comparison.h"

#include <random>

#include "experiment/offpolicy/unit_policy.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

constexpr int64_t kWeekUs = int64_t{7} * 24 * 3600 * 1000 * 1000;

MetricPlan Whether() {
  return {.name = "bought",
          .kind = storage::MetricRecord::PROPORTION,
          .events = {.type = 3},
          .window_us = kWeekUs};
}

void AddUnit(OutcomeTable* table, int arm, double propensity, bool success, uint16_t segment = 0) {
  const OutcomeTable::Row row = table->Add({arm, 0, segment, static_cast<float>(propensity)});
  if (!success) return;
  storage::EventRecord event;
  event.set_type(3);
  event.set_time_us(1);
  table->Count(row, event);
}

TEST_CASE("Means by inverse propensity, by hand") {
  OutcomeTable table({Whether()}, {.arms = 2});
  // Arm 0: weights 2 (success), 4: mean 2/6. Arm 1: weights 2, 4/3 (success): mean (4/3)/(10/3) = .4.
  AddUnit(&table, 0, .5, true);
  AddUnit(&table, 0, .25, false);
  AddUnit(&table, 1, .5, false);
  AddUnit(&table, 1, .75, true);
  const Comparison comparison = CompareWeighted(table, 0, 0, 1, {});
  CHECK(comparison.control_mean == Approx(1.0 / 3));
  CHECK(comparison.treatment_mean == Approx(.4));
  // The terms that are weighed add up to 0 in each arm, so the effect is the difference of means.
  CHECK(comparison.absolute.estimate == Approx(.4 - 1.0 / 3));
  CHECK_FALSE(comparison.relative.has_value());
  const ArmCounts counts = CountOutcomes(table, kWeekUs);
  CHECK(counts.units == std::vector<double>{2, 2});
  CHECK(counts.successes == std::vector<double>{1, 1});
  CHECK(CountOutcomes(table, kWeekUs - 1).units == std::vector<double>{0, 0});  // no window is over
}

// Shares that follow trends: early units are good in both arms, and arm 1 has most of them. Plain means see a
// difference that is not there.
TEST_CASE("Shares that move with time do not pass for an effect") {
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> uniform;
  int found = 0;
  double plain = 0, weighted = 0;
  constexpr int kRuns = 100;
  for (int run = 0; run < kRuns; ++run) {
    OutcomeTable table({Whether()}, {.arms = 2});
    double sums[2] = {0, 0}, units[2] = {0, 0};
    for (int i = 0; i < 2000; ++i) {
      const bool early = i < 1000;
      const double share = early ? .8 : .2;  // of arm 1
      const int arm = uniform(random) < share ? 1 : 0;
      const bool success = uniform(random) < (early ? .6 : .2);
      AddUnit(&table, arm, arm == 1 ? share : 1 - share, success);
      sums[arm] += success, ++units[arm];
    }
    const Comparison comparison = CompareWeighted(table, 0, 0, 1, {});
    found += comparison.absolute.p_value < .05;
    plain += sums[1] / units[1] - sums[0] / units[0];
    weighted += comparison.absolute.estimate;
  }
  CHECK(plain / kRuns > .2);
  CHECK(std::abs(weighted / kRuns) < .01);
  CHECK(found <= 5);
}

TEST_CASE("A policy that gives everybody one arm is told from what was logged") {
  std::mt19937_64 random(12);
  std::uniform_real_distribution<double> uniform;
  OutcomeTable table({Whether()}, {.arms = 2});
  double logged = 0;
  constexpr int kUnits = 20000;
  for (int i = 0; i < kUnits; ++i) {
    const auto segment = static_cast<uint16_t>(i % 2);
    const int arm = uniform(random) < .3 ? 1 : 0;
    const double rate = (arm == 1 ? .5 : .2) + .1 * segment;
    const bool success = uniform(random) < rate;
    logged += success;
    AddUnit(&table, arm, arm == 1 ? .3 : .7, success, segment);
  }
  const auto answer = EstimatePolicy(table, 0, 0, {0, 1}, {});
  REQUIRE(answer.ok());
  CHECK(answer->units == kUnits);
  CHECK(answer->logged_value == Approx(logged / kUnits));
  REQUIRE(answer->estimates.size() == 3);
  for (const PolicyEstimate& one : answer->estimates) {
    INFO(one.method << " " << one.estimate.value << " [" << one.estimate.low << ", " << one.estimate.high
                    << "]");
    CHECK(one.estimate.value == Approx(.55).margin(3 * one.estimate.standard_error));
    CHECK(one.estimate.standard_error < .015);
  }
  // The arms as they were given out: every weight is 1.
  const auto same = EstimatePolicy(table, 0, 0, {.7, .3}, {});
  REQUIRE(same.ok());
  CHECK(same->estimates[0].estimate.value == Approx(logged / kUnits).epsilon(1e-6));
  CHECK(same->estimates[0].estimate.effective_sample_size == Approx(kUnits).epsilon(1e-6));
}

}  // namespace
}  // namespace waymark
