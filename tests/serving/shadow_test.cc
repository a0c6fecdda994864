// Experiments in the shadow: releases that score copies of a live server's traffic and answer nobody.
#include <optional>

#include "absl/time/clock.h"
#include "store/served_log.h"
#include "tests/serving/experiment_calls.h"

using namespace waymark;
using namespace waymark::tests;

namespace {

constexpr int kRequests = 40;

void StartInTheShadow(const LiveServer& live) {
  int status = 0;
  const auto started = live.Post("/v1/experiments/x:start", R"({"by": "ann", "shadow": true})", &status);
  INFO(started.dump());
  REQUIRE(status == 200);
  CHECK(started["state"] == "SHADOW");
}

// Everybody is answered by r1, without an arm.
void Ask(Api* api, int requests) {
  for (int i = 0; i < requests; ++i) {
    const v1::RecommendResponse answer = Feed(api, Of("u" + std::to_string(i)));
    CHECK(answer.served_by().release() == "r1");
    CHECK(answer.arms().empty());
    CHECK(answer.results_size() > 0);
  }
}

// The report, once it is about as many requests.
v1::ExperimentReport ReportOf(const LiveServer& live, int64_t requests) {
  const absl::Time patience = absl::Now() + absl::Seconds(20);
  while (true) {
    v1::ExperimentReport report = Report(live);
    const auto& shadow = report.shadow();
    if (!shadow.empty() && shadow[0].copies() + shadow[0].skipped() >= requests) return report;
    REQUIRE(absl::Now() < patience);
    absl::SleepFor(absl::Milliseconds(5));
  }
}

storage::BlendingPlan WithoutFeeds() {
  storage::BlendingPlan plan = DefaultBlendingPlan();
  plan.mutable_sources()->DeleteSubrange(1, plan.sources_size() - 1);  // keywords are left
  return plan;
}

}  // namespace

TEST_CASE("In the shadow a release scores copies, and neither answers nor logs tell of it") {
  LiveServer live;
  Prepare(&live);
  Create(live);
  StartInTheShadow(live);
  Api api(live);
  Ask(&api, kRequests);
  v1::ExperimentReport report = ReportOf(live, kRequests);
  REQUIRE(report.shadow_size() == 1);
  CHECK(report.shadow(0).arm() == "new");
  CHECK(report.shadow(0).overlap() == 1);
  CHECK(report.shadow(0).rank_correlation() == 1);
  CHECK(report.shadow(0).error_rate() == 0);
  CHECK(report.shadow(0).empty_rate() == 0);
  CHECK(report.shadow(0).latency_ms() > 0);
  CHECK(report.shadow(0).served_latency_ms() > 0);
  CHECK(Units(live) == 0);

  CHECK(Ramp(live).coverage() == .5);

  live.Restart();  // what is queued for the log is written
  report = Report(live);
  REQUIRE(report.shadow_size() == 1);
  CHECK(report.shadow(0).copies() == kRequests);  // they outlive the server
  ServedLogOptions options;
  options.read_only = true;
  const auto log = ServedLog::Open(live.folder.path / "data", options);
  REQUIRE(log.ok());
  int logged = 0;
  const auto count = [&](const storage::ServeRecord&) { return ++logged > 0; };
  const Scope scope = (*live.engine->OpenCollection({}, false))->scope();
  REQUIRE((*log)->ForEach(scope, std::nullopt, count).ok());
  CHECK(logged == kRequests);
}

TEST_CASE("What feeds draw at random says nothing of the release in the shadow") {
  LiveServer live;
  Prepare(&live);
  Create(live);
  StartInTheShadow(live);
  Api api(live);
  int drawn = 0;
  for (int i = 0; i < kRequests; ++i) {
    v1::RecommendRequest request = Of("u" + std::to_string(i));
    request.set_exploration(.4);
    const v1::RecommendResponse answer = Feed(&api, request);
    for (const v1::Result& result : answer.results()) drawn += result.exploration().drawn();
  }
  CHECK(drawn > kRequests);
  const v1::ExperimentReport report = ReportOf(live, kRequests);
  REQUIRE(report.shadow_size() == 1);
  CHECK(report.shadow(0).overlap() == 1);
  CHECK(report.shadow(0).rank_correlation() == 1);
}

TEST_CASE("What every request would miss shows in the agreement, and keeps it from the first step") {
  LiveServer live;
  Prepare(&live);
  PutRelease(live, "r3", "", WithoutFeeds());
  std::string experiment = kExperiment;
  experiment.replace(experiment.find("r2"), 2, "r3");
  experiment.replace(experiment.find(R"("min_exposures": 1)"), 18, R"("min_exposures": 1000)");
  Create(live, experiment);
  StartInTheShadow(live);
  Api api(live);
  Ask(&api, kRequests);
  const v1::ExperimentReport report = ReportOf(live, kRequests);
  CHECK(report.shadow(0).overlap() == 0);
  CHECK(report.shadow(0).empty_rate() == 1);
  int status = 0;
  const auto refused = live.Post("/v1/experiments/x:ramp", R"({"by": "ann"})", &status);
  CHECK(status == 400);
  CHECK_THAT(std::string(refused["error"]["message"]), Catch::Contains("copies of requests in the shadow"));
}

TEST_CASE("A guardrail rolls back in the shadow, before anybody has seen the arm") {
  for (const bool slow : {false, true}) {
    LiveServer live;
    Prepare(&live);
    if (slow) live.engine->gate().SetSlow("r2", absl::Milliseconds(20));
    PutRelease(live, "r3", "", WithoutFeeds());
    std::string experiment = kExperiment;
    if (!slow) experiment.replace(experiment.find("r2"), 2, "r3");
    experiment.replace(experiment.find(R"("ramp")"), 6,
                       slow ? R"("guardrails": [{"measure": "LATENCY", "tolerance": 0.2}], "ramp")"
                            : R"("guardrails": [{"measure": "EMPTY_RATE", "tolerance": 0.05}], "ramp")");
    Create(live, experiment);
    StartInTheShadow(live);
    Api api(live);
    int status = 0;
    std::string state = "SHADOW";
    const absl::Time patience = absl::Now() + absl::Seconds(20);
    while (state == "SHADOW" && absl::Now() < patience) {
      Ask(&api, 1);
      state = live.Get("/v1/experiments/x", &status)["state"];
    }
    CHECK(state == "ROLLED_BACK");
    const v1::ExperimentReport report = Report(live);
    REQUIRE(report.decisions_size() == 3);
    CHECK(report.decisions(2).by() == "automatic");
    CHECK_THAT(report.decisions(2).reason(), Catch::Contains("guardrail"));
    CHECK(Units(live) == 0);
  }
}
