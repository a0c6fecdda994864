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
  // ranks: 2 + .5 + 3 = 5.5 s.
  const StepTimes one = {.wait = 0.1,
                         .data = 0.2,
                         .forward = 1.5,
                         .backward = 2.5,
                         .communication = 1.5,
                         .optimizer = 0.2,
                         .divided_cpu = 4,
                         .own_cpu = 0.4};
  const JobEstimate e = EstimateOf(ResultOf({one, one}));
  CHECK(e.seconds == Approx(6));
  CHECK(e.one_process_seconds == Approx(8.5));
  CHECK(e.speed_up == Approx(8.5 / 6));
  CHECK(e.efficiency == Approx(8.5 / 12));
  CHECK(e.communication_share == Approx(0.25));
  CHECK(e.wait_share == Approx(0.1 / 6));
  CHECK(e.uncrowded_seconds == Approx(6));
  CHECK(e.twice_the_ranks_seconds == Approx(5.5));
  CHECK_FALSE(e.more_pays);
  CHECK_THAT(e.advice, Contains("more ranks do not pay: 4 ranks"));
}

TEST_CASE("Two threads of a rank halve its passes, up to the parts that it has") {
  const StepTimes one = {.forward = 2, .backward = 2, .communication = 0.5, .divided_cpu = 8};
  JobResult result = ResultOf({one, one});
  result.threads = 2;
  result.parts = 4;
  const JobEstimate e = EstimateOf(result);
  CHECK(e.one_process_seconds == Approx(8));      // 16 over 2
  CHECK(e.uncrowded_seconds == Approx(4.5));      // 16 over 4
  CHECK(e.twice_the_ranks_seconds == Approx(5));  // 4 ranks have a part each: 16 over 4 still
}

TEST_CASE("Ranks that share cores are compared by their work, not by how long they waited for a core") {
  // Each rank has 3 s of passes, and 6 s until they are done: it had half a core.
  const StepTimes crowded = {.forward = 2, .backward = 4, .communication = 2, .divided_cpu = 3, .own_cpu = 0};
  JobResult result = ResultOf({crowded, crowded});
  result.machine_threads = 2;
  result.machine_cores = 1;
  const JobEstimate e = EstimateOf(result);
  CHECK(e.seconds == Approx(8));
  CHECK(e.one_process_seconds == Approx(6));
  CHECK(e.speed_up == Approx(0.75));
  CHECK_FALSE(e.more_pays);
  CHECK_THAT(e.advice, Contains("distribution does not pay") && Contains("2 threads have 1 cores"));
}

TEST_CASE("One process would share the cores with the other programs that the ranks shared them with") {
  // Two ranks on two cores, each with half a core: 3 s of passes took 6. So two other threads were there, and
  // one process would have had two cores for three threads: 6 s of passes take 9.
  const StepTimes busy = {.forward = 2, .backward = 4, .communication = 2, .divided_cpu = 3};
  JobResult result = ResultOf({busy, busy});
  result.machine_threads = result.machine_cores = 2;
  const JobEstimate e = EstimateOf(result);
  CHECK(e.core_share == Approx(0.5));
  CHECK(e.one_process_seconds == Approx(9));
  CHECK(e.speed_up == Approx(1.125));
  CHECK(e.uncrowded_seconds == Approx(8));
  CHECK(e.twice_the_ranks_seconds == Approx(7));
  CHECK_THAT(ReportText(result, {}),
             Contains("the threads had 50% of a core each, 2 of them on a machine of 2 cores"));
  // Two of three cores' time is left to the ranks: a process alone would have had a core of its own.
  result.machine_cores = 3;
  result.times = {{.forward = 2, .backward = 2, .divided_cpu = 3},
                  {.forward = 2, .backward = 2, .divided_cpu = 3}};
  CHECK(EstimateOf(result).core_share == Approx(0.75));
  CHECK(EstimateOf(result).one_process_seconds == Approx(6));
}

TEST_CASE("More ranks pay only where there are cores for them, and where communication lets them") {
  const StepTimes quick = {.forward = 2, .backward = 2, .communication = 0.2, .divided_cpu = 4};
  JobResult result = ResultOf({quick, quick});
  result.machine_threads = 2;
  result.machine_cores = 8;
  CHECK(EstimateOf(result).more_pays);  // 4.2 against 2 + .4
  CHECK_THAT(EstimateOf(result).advice, Contains("more ranks may pay: 4 ranks"));
  result.machine_cores = 2;
  CHECK_FALSE(EstimateOf(result).more_pays);
  CHECK_THAT(EstimateOf(result).advice,
             Contains("do not pay on this machine, where 2 threads have 2 cores; elsewhere 4 ranks"));
  JobResult alone = ResultOf({{.forward = 4, .backward = 4, .divided_cpu = 8}});
  alone.machine_cores = 2;
  CHECK(EstimateOf(alone).one_process_seconds == Approx(8));
  CHECK_THAT(EstimateOf(alone).advice,
             Contains("more ranks may pay") && Contains("communication not counted"));
}

TEST_CASE("A run that only writes the package of a checkpoint compares nothing") {
  JobResult result = ResultOf({{}, {}});
  result.steps = result.tokens = 0;
  result.train_seconds = 0;
  CHECK_FALSE(EstimateOf(result).more_pays);
  CHECK_THAT(ReportText(result, {}), Contains("0 steps") && Contains("nothing to compare") &&
                                         !Contains("does not pay") && !Contains("estimated"));
}

TEST_CASE("The advice says when distribution does not pay") {
  // 2 s of passes between two ranks, 3 s of communication.
  const StepTimes slow = {.forward = 0.5, .backward = 0.5, .communication = 3, .divided_cpu = 1};
  const JobEstimate e = EstimateOf(ResultOf({slow, slow}));
  CHECK_FALSE(e.more_pays);
  CHECK_THAT(e.advice, Contains("distribution does not pay") && Contains("75% of it in communication"));
  const StepTimes mostly_fixed = {.data = 4,
                                  .forward = 2,
                                  .backward = 2,
                                  .communication = 0.1,
                                  .optimizer = 2,
                                  .divided_cpu = 4,
                                  .own_cpu = 6};
  const JobEstimate fixed = EstimateOf(ResultOf({mostly_fixed, mostly_fixed}));
  CHECK_FALSE(fixed.more_pays);  // 10.1 against 8.2
  CHECK_THAT(fixed.advice, Contains("more ranks do not pay"));
}

TEST_CASE("The report says how full the item table is, and what came and went") {
  JobResult result = ResultOf({{.forward = 1, .divided_cpu = 1}});
  CHECK_FALSE(nlohmann::json::parse(ReportJson(result, {})).contains("vocabulary"));
  result.vocabulary = {.items = 1000, .rows = 300, .used = 290, .admitted = 450, .evicted = 160};
  CHECK_THAT(ReportText(result, {}),
             Contains("item table: 290 of its 300 rows have one of the 1000 items; 450 "
                      "were admitted, 160 evicted"));
  const auto json = nlohmann::json::parse(ReportJson(result, {}))["vocabulary"];
  CHECK(json["items"] == 1000);
  CHECK(json["rows"] == 300);
  CHECK(json["used"] == 290);
  CHECK(json["admitted"] == 450);
  CHECK(json["evicted"] == 160);
}

TEST_CASE("With a price the report says what the run cost and what one process would") {
  StepTimes one;
  one.forward = one.divided_cpu = 3600;
  const JobResult result = ResultOf({one, one});
  const auto json = nlohmann::json::parse(ReportJson(result, 2.0));
  CHECK(json["cost"]["distributed"] == Approx(4));  // an hour on two at 2
  CHECK(json["cost"]["one_process"] == Approx(4));  // two hours on one
  CHECK(json["ranks"] == 2);
  CHECK(json["step_times"].size() == 2);
  CHECK_FALSE(nlohmann::json::parse(ReportJson(result, {})).contains("cost"));
  CHECK_THAT(ReportText(result, 2.0),
             Contains("2 ranks (torchrun, gloo)") && Contains("cost of the steps at 2 a process-hour: 4"));
}

}  // namespace
}  // namespace waymark
