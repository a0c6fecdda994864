// From draft to decision with readers whose clicks come from a position-based model: the small version of
// bench/experiment_live.py, which does the same with trained rankers on films and kills the server between
// steps.
#include <cmath>
#include <random>

#include "tests/serving/experiment_calls.h"

using namespace waymark;
using namespace waymark::tests;

namespace {

constexpr int kItems = 40;

// What readers like is what has been viewed most: m0, m1, ... So r2, by popularity, is better than r1, by
// what is new.
void PrepareLiked(LiveServer* live) {
  Api api(*live);
  Put(&api, kItems);
  const auto plan = [](const std::string& source) {
    storage::BlendingPlan made;
    made.add_sources()->set_name(source);
    made.mutable_sources(0)->set_limit(100);
    made.mutable_sources(0)->set_weight(1);
    made.set_fusion_k(60);
    made.set_rank_limit(100);
    return made;
  };
  PutRelease(*live, "r1", "", plan("fresh"));
  PutRelease(*live, "r2", "", plan("popularity"));
  PutRelease(*live, "hollow", "", plan("keyword"));
  v1::WriteEventsRequest write;
  for (int item = 0; item < kItems; ++item) {
    for (int i = 0; i < (item < 8 ? 12 : 1); ++i) {
      const std::string number = std::to_string(item) + "-" + std::to_string(i);
      *write.add_events() = EventOf("e" + number, "past" + number, "m" + std::to_string(item));
    }
  }
  v1::WriteEventsResponse written;
  REQUIRE(api.WriteEvents(write, &written).ok());
  REQUIRE((*live->engine->OpenCollection({}, false))->ActivateRelease("r1", "first").ok());
  REQUIRE((*live->engine->OpenCollection({}, false))->CatchUp(Deadline::Never()).ok());
}

std::string Experiment(const std::string& control, const std::string& treatment,
                       const std::string& more = "") {
  return R"({"by": "ann", "experiment": {"id": "x", "hypothesis": "more clicks", "unit": "SESSION",
    "arms": [{"name": "control", "release": ")" +
         control + R"(", "weight": 0.5}, {"name": "new", "release": ")" + treatment + R"(", "weight": 0.5}],
    "metrics": [{"name": "clicks", "kind": "MEAN", "events": {"type": "click"}, "window": "3600s"}],
    "primary_metric": "clicks", "ramp": [1], "min_exposures": 1, "sequential_tuning": 500)" +
         more + "}}";
}

class Readers {
 public:
  explicit Readers(Api* api) : api_(api) {}
  // A feed, and the clicks on it. The arm, empty: none.
  std::string Session() {
    const std::string session = "s" + std::to_string(++sessions_);
    v1::RecommendRequest request;
    request.set_visitor_id("v" + session);
    request.set_session_id(session);
    request.set_page_size(10);
    const v1::RecommendResponse answer = Feed(api_, request);
    v1::WriteEventsRequest write;
    for (int place = 0; place < answer.results_size(); ++place) {
      const std::string& id = answer.results(place).item().id();
      const bool liked = std::stoi(id.substr(1)) < 8;
      if (Uniform() > std::pow(place + 1, -.5) || Uniform() > (liked ? .4 : .1)) continue;
      v1::Event* event = write.add_events();
      event->set_type("click");
      event->set_visitor_id("v" + session);
      event->set_session_id(session);
      event->set_item_id(id);
      event->set_attribution_token(answer.attribution_token());
    }
    v1::WriteEventsResponse written;
    if (write.events_size() > 0) REQUIRE(api_->WriteEvents(write, &written).ok());
    return answer.arms().empty() ? "" : answer.arms(0).arm();
  }

 private:
  double Uniform() { return uniform_(random_); }
  Api* api_;
  int sessions_ = 0;
  std::mt19937_64 random_{17};
  std::uniform_real_distribution<double> uniform_;
};

}  // namespace

TEST_CASE("The better ranking wins at a p-value that is valid at every look, and is released") {
  LiveServer live;
  PrepareLiked(&live);
  Create(live, Experiment("r1", "r2"));
  Start(live);
  Api api(live);
  Readers readers(&api);
  v1::ExperimentReport report;
  for (int batch = 0; batch < 40 && report.winner().empty(); ++batch) {
    for (int i = 0; i < 50; ++i) readers.Session();
    report = Report(live);
  }
  INFO(report.DebugString());
  REQUIRE(report.winner() == "new");
  REQUIRE(report.comparisons_size() == 1);
  CHECK(report.comparisons(0).absolute().adjusted_p_value() < .05);
  CHECK(report.comparisons(0).absolute().low() > 0);
  CHECK(report.sample_ratio_p_value() > .001);
  live.Restart();
  CHECK(Report(live).winner() == "new");
  int status = 0;
  const auto stopped = live.Post(
      "/v1/experiments/x:stop",
      R"({"by": "ann", "outcome": "RELEASE", "winner": "new", "override_reason": "a test"})", &status);
  REQUIRE(status == 200);
  CHECK(stopped["state"] == "RELEASED");
  CHECK(live.Get("/v1/releases/r2", &status)["active"] == true);
}

TEST_CASE("A candidate that answers nothing is rolled back by itself within 200 exposures") {
  LiveServer live;
  PrepareLiked(&live);
  Create(live,
         Experiment("r1", "hollow", R"(, "guardrails": [{"measure": "EMPTY_RATE", "tolerance": 0.05}])"));
  Start(live);
  Api api(live);
  Readers readers(&api);
  int exposures = 0, status = 0;
  std::string state = "RUNNING";
  for (int i = 0; i < 2000 && state == "RUNNING"; ++i) {
    exposures += readers.Session() == "new";
    if (i % 5 == 0) state = live.Get("/v1/experiments/x", &status)["state"];
  }
  CHECK(state == "ROLLED_BACK");
  CHECK(exposures > 20);
  CHECK(exposures <= 200);
  const v1::ExperimentReport report = Report(live);
  const v1::Decision& last = report.decisions(report.decisions_size() - 1);
  CHECK(last.by() == "automatic");
  CHECK_THAT(last.reason(), Catch::Contains("empty results"));
  CHECK(readers.Session() == "");
}
