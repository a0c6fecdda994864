// A candidate that is broken in a running server is taken back by the server itself.
#include "tests/serving/experiment_calls.h"

using namespace waymark;
using namespace waymark::tests;

namespace {

constexpr int kMostExposures = 200;

std::string WithGuardrail(const std::string& measure, double tolerance) {
  std::string experiment = kExperiment;
  const std::string ramp = R"("ramp": [0.5, 1])";
  experiment.replace(experiment.find(ramp), ramp.size(),
                     R"("ramp": [1], "guardrails": [{"measure": ")" + measure + R"(", "tolerance": )" +
                         std::to_string(tolerance) + "}]");
  return experiment;
}

bool RolledBack(const LiveServer& live) {
  int status = 0;
  return live.Get("/v1/experiments/x", &status)["state"] == "ROLLED_BACK";
}

// New users, one by one, until the server has rolled back.
void ServeUntilRolledBack(const LiveServer& live) {
  Api api(live);
  for (int i = 0; i < kMostExposures; ++i) {
    Feed(&api, Of("u" + std::to_string(i)));
    if (RolledBack(live)) return;
  }
}

void CheckRolledBack(LiveServer* live, const std::string& measure) {
  for (int restart = 0; restart < 2; ++restart) {
    REQUIRE(RolledBack(*live));
    const v1::ExperimentReport report = Report(*live);
    CHECK(Units(*live) <= kMostExposures);
    REQUIRE(report.decisions_size() == 3);
    CHECK(report.decisions(2).by() == "automatic");
    CHECK(report.decisions(2).action() == "roll back");
    CHECK_THAT(report.decisions(2).reason(), Catch::Contains("guardrail " + measure + " of arm 'new'"));
    CHECK(report.decisions(2).seen().contains(measure + " of arm 1"));
    Api api(*live);
    for (int i = 0; i < 20; ++i) {
      const v1::RecommendResponse answer = Feed(&api, Of("u" + std::to_string(i)));
      CHECK(answer.served_by().release() == "r1");
      CHECK(answer.arms().empty());
      CHECK(answer.results_size() > 0);
    }
    live->Restart();
  }
}

}  // namespace

TEST_CASE("An arm that answers nothing is rolled back by itself within 200 exposures, for good") {
  LiveServer live;
  Prepare(&live);
  // Its feeds have no source to draw from.
  storage::BlendingPlan words_only = DefaultBlendingPlan();
  words_only.mutable_sources()->DeleteSubrange(1, words_only.sources_size() - 1);
  PutRelease(live, "r3", "", words_only);
  std::string experiment = WithGuardrail("EMPTY_RATE", .05);
  experiment.replace(experiment.find("r2"), 2, "r3");
  Create(live, experiment);
  Start(live);
  ServeUntilRolledBack(live);
  CheckRolledBack(&live, "empty results");
}

TEST_CASE("An arm that answers slowly is rolled back by itself within 200 exposures, for good") {
  LiveServer live;
  Prepare(&live);
  live.engine->gate().SetSlow("r2", absl::Milliseconds(60));
  Create(live, WithGuardrail("LATENCY", .2));
  Start(live);
  ServeUntilRolledBack(live);
  CheckRolledBack(&live, "latency");
}
