#include <fstream>
#include <map>
#include <random>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "experiment/offpolicy/doubly_robust.h"
#include "experiment/offpolicy/inverse_propensity.h"
#include "experiment/offpolicy/self_normalised.h"
#include "tests/support/catch.h"
#include "tests/support/skip.h"

namespace waymark {
namespace {

TEST_CASE("The estimators on three decisions, by hand") {
  const std::vector<LoggedDecision> log{{1, .5, .25, .5, .4}, {0, .25, .5, .2, .4}, {1, .5, .5, .6, .4}};
  // Weights 1/2, 2, 1.
  CHECK(InversePropensity(log, {})->value == Approx(1.5 / 3));
  CHECK(SelfNormalised(log, {})->value == Approx(1.5 / 3.5));
  CHECK(DoublyRobust(log, {})->value == Approx(.4 + (.5 * .5 - 2 * .2 + .4) / 3));
  CHECK(InversePropensity(log, {})->effective_sample_size == Approx(3.5 * 3.5 / 5.25));
  CHECK(InversePropensity(log, {.weight_cap = 1})->value == Approx(1.5 / 3));
  CHECK_FALSE(InversePropensity(log, {})->warnings.empty());
}

TEST_CASE("Impossible propensities are refused by row") {
  std::vector<LoggedDecision> log{{1, .5, .5}, {1, 0, .5}};
  const auto refused = InversePropensity(log, {});
  REQUIRE(absl::IsInvalidArgument(refused.status()));
  CHECK(std::string(refused.status().message()).find("decision 1") != std::string::npos);
  log[1] = {1, .5, 1.5};
  CHECK(absl::IsInvalidArgument(DoublyRobust(log, {}).status()));
  CHECK(absl::IsInvalidArgument(SelfNormalised({}, {}).status()));
  log = {{1, .5, 0}, {1, .5, 0}};
  CHECK(absl::IsFailedPrecondition(SelfNormalised(log, {}).status()));
}

TEST_CASE("All three cover the truth, and the doubly robust one has the smallest error with a fair model") {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> uniform;
  const double rewards[] = {.2, .5, .8}, logged[] = {.6, .3, .1}, target[] = {.1, .3, .6};
  const double truth = .02 + .15 + .48;
  int covered[3] = {0, 0, 0};
  double error[3] = {0, 0, 0};
  for (int run = 0; run < 200; ++run) {
    std::vector<LoggedDecision> log;
    for (int i = 0; i < 1000; ++i) {
      const double draw = uniform(random);
      const int arm = draw < .6 ? 0 : draw < .9 ? 1 : 2;
      log.push_back(
          {uniform(random) < rewards[arm] ? 1.0 : 0.0, logged[arm], target[arm], rewards[arm], truth});
    }
    const auto results = {InversePropensity(log, {}), SelfNormalised(log, {}), DoublyRobust(log, {})};
    int i = 0;
    for (const auto& result : results) {
      REQUIRE(result.ok());
      covered[i] += result->low <= truth && truth <= result->high;
      error[i++] += result->standard_error;
    }
  }
  for (const int count : covered) CHECK(count >= 180);
  CHECK(error[2] < error[1]);
  CHECK(error[1] < error[0]);
}

// The logs of the Thompson sampler say what showing garments at random would have earned; the random logs say
// what it did earn.
TEST_CASE("On the open bandit sample, the value of random choice is told from the sampler's log") {
  if (!tests::HaveData("open-bandit-sample")) return;
  for (const auto& [campaign, items] : std::map<std::string, double>{{"men", 34}, {"women", 46}}) {
    const auto read = [&](const std::string& policy) {
      std::ifstream file(tests::SharedData() / "open-bandit-sample" / policy / campaign /
                         (campaign + ".csv"));
      std::string line;
      std::getline(file, line);
      std::vector<LoggedDecision> log;
      std::map<std::string, std::pair<double, double>> clicks;  // by item: clicks and rows, with a prior
      std::vector<std::string> chosen;
      while (std::getline(file, line)) {
        const std::vector<std::string> cells = absl::StrSplit(line, absl::MaxSplits(',', 6));
        LoggedDecision decision;
        REQUIRE(absl::SimpleAtod(cells[4], &decision.reward));
        REQUIRE(absl::SimpleAtod(cells[5], &decision.logged_propensity));
        decision.target_propensity = 1 / items;
        chosen.push_back(cells[2]);
        auto& [count, rows] = clicks[cells[2]];
        count += decision.reward, ++rows;
        log.push_back(decision);
      }
      double average = 0;
      for (const auto& [item, counted] : clicks)
        average += (counted.first + .05) / (counted.second + 10) / items;
      for (size_t i = 0; i < log.size(); ++i) {
        const auto& counted = clicks[chosen[i]];
        log[i].predicted = (counted.first + .05) / (counted.second + 10);
        log[i].predicted_under_target = average;
      }
      return log;
    };
    const auto on_policy = InversePropensity(read("random"), {});
    REQUIRE(on_policy.ok());
    CHECK(on_policy->mean_weight == Approx(1).epsilon(1e-6));
    const std::vector<LoggedDecision> sampler = read("bts");
    for (const auto& estimate :
         {InversePropensity(sampler, {}), SelfNormalised(sampler, {}), DoublyRobust(sampler, {})}) {
      REQUIRE(estimate.ok());
      INFO(campaign << ": " << estimate->value << " in [" << estimate->low << ", " << estimate->high
                    << "], seen " << on_policy->value);
      const double error = std::hypot(estimate->standard_error, on_policy->standard_error);
      CHECK(std::abs(estimate->value - on_policy->value) < 2.5 * error);
      CHECK(estimate->effective_sample_size < 10000);
    }
  }
}

}  // namespace
}  // namespace waymark
