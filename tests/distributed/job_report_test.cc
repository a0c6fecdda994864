#include "training/distributed/job_report.h"

#include <nlohmann/json.hpp>

#include "tests/support/catch.h"

namespace waymark {
namespace {

using Catch::Matchers::Contains;

JobResult ResultOf(const std::vector<StepTimes>& times) {
  JobResult result;
  result.ranks = static_cast<int>(times.size());
  result.launcher = "torchrun";
  result.backend = "gloo";
  result.steps = 100;
  result.tokens = 100000;
  result.train_seconds = 10;
  result.times = times;
  return result;
}

TEST_CASE("The estimate of one process and of twice the ranks is the one worked out by hand") {
  // Two ranks: passes 4 and 4 s, fixed .5 each, communication 1.5 s: 6 s. One process: 8 + .5 = 8.5 s. Four
  // ranks: 2 + .5 + 1.5 = 4 s, 1.5 times as fast.
  const StepTimes one = {
      .wait = 0.1, .data = 0.2, .forward = 1.5, .backward = 2.5, .communication = 1.5, .optimizer = 0.2};
  const JobEstimate e = EstimateOf(ResultOf({one, one}));
  CHECK(e.seconds == Approx(6));
  CHECK(e.one_process_seconds == Approx(8.5));
  CHECK(e.speed_up == Approx(8.5 / 6));
  CHECK(e.efficiency == Approx(8.5 / 12));
  CHECK(e.communication_share == Approx(0.25));
  CHECK(e.wait_share == Approx(0.1 / 6));
  CHECK(e.twice_the_ranks_seconds == Approx(4));
  CHECK(e.more_pays);
}

TEST_CASE("The advice says when distribution does not pay") {
  // 2 s of passes between two ranks, 3 s of communication.
  const StepTimes slow = {.forward = 0.5, .backward = 0.5, .communication = 3};
  const JobEstimate e = EstimateOf(ResultOf({slow, slow}));
  CHECK_FALSE(e.more_pays);
  CHECK_THAT(e.advice, Contains("distribution does not pay") && Contains("75% of it in communication"));
  const StepTimes mostly_fixed = {
      .data = 4, .forward = 2, .backward = 2, .communication = 0.1, .optimizer = 2};
  const JobEstimate fixed = EstimateOf(ResultOf({mostly_fixed, mostly_fixed}));
  CHECK_FALSE(fixed.more_pays);  // 10.1 against 8.1
  CHECK_THAT(fixed.advice, Contains("more ranks do not pay"));
}

TEST_CASE("With a price the report says what the run cost and what one process would") {
  StepTimes one;
  one.forward = 3600;
  const JobResult result = ResultOf({one, one});
  const auto json = nlohmann::json::parse(ReportJson(result, 2.0));
  CHECK(json["cost"]["distributed"] == Approx(4));  // an hour on two at 2
  CHECK(json["cost"]["one_process"] == Approx(4));  // two hours on one
  CHECK(json["ranks"] == 2);
  CHECK(json["step_times"].size() == 2);
  CHECK_FALSE(nlohmann::json::parse(ReportJson(result, {})).contains("cost"));
  CHECK_THAT(ReportText(result, 2.0), Contains("2 ranks (torchrun, gloo)") && Contains("cost at 2"));
}

}  // namespace
}  // namespace waymark
