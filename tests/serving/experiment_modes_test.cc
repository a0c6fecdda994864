// Interleaved lists in the running server, decisions that figures call for, layers, and pages of experiments.
#include <set>

#include "store/served_log.h"
#include "tests/serving/experiment_calls.h"

using namespace waymark;
using namespace waymark::tests;
using nlohmann::json;

namespace {

// r1 orders by popularity; r2 by what is new. So the two lists differ.
void PrepareTwoOrders(LiveServer* live) {
  Api api(*live);
  Put(&api, 30);
  storage::BlendingPlan popular, fresh;
  popular.add_sources()->set_name("popularity");
  fresh.add_sources()->set_name("fresh");
  for (storage::BlendingPlan* plan : {&popular, &fresh}) {
    plan->add_sources()->set_name("keyword");  // of searches
    for (auto& source : *plan->mutable_sources()) {
      source.set_limit(100);
      source.set_weight(1);
    }
    plan->set_fusion_k(60);
    plan->set_rank_limit(100);
  }
  PutRelease(*live, "r1", "", popular);
  PutRelease(*live, "r2", "", fresh);
  v1::WriteEventsRequest write;
  for (int item = 0; item < 30; ++item) {
    for (int i = 0; i <= item % 7; ++i) {
      *write.add_events() = EventOf("e" + std::to_string(item) + "-" + std::to_string(i),
                                    "reader" + std::to_string(i), "m" + std::to_string(item));
    }
  }
  v1::WriteEventsResponse written;
  REQUIRE(api.WriteEvents(write, &written).ok());
  REQUIRE((*live->engine->OpenCollection({}, false))->ActivateRelease("r1", "first").ok());
  REQUIRE((*live->engine->OpenCollection({}, false))->CatchUp(Deadline::Never()).ok());
}

std::string InterleavedExperiment() {
  std::string experiment = kExperiment;
  const std::string ramp = R"("ramp": [0.5, 1])";
  experiment.replace(experiment.find(ramp), ramp.size(), R"("ramp": [1], "mode": "INTERLEAVED")");
  return experiment;
}

std::vector<std::string> Ids(const v1::RecommendResponse& answer) {
  std::vector<std::string> ids;
  for (const v1::Result& result : answer.results()) ids.push_back(result.item().id());
  return ids;
}

void Click(Api* api, const std::string& user, const v1::RecommendResponse& answer, const std::string& item) {
  v1::WriteEventsRequest write;
  v1::Event* event = write.add_events();
  event->set_type("click");
  event->set_user_id(user);
  event->set_item_id(item);
  event->set_attribution_token(answer.attribution_token());
  v1::WriteEventsResponse written;
  REQUIRE(api->WriteEvents(write, &written).ok());
  REQUIRE(written.results(0).code() == 0);
}

}  // namespace

TEST_CASE("Two releases make one list; its teams are logged, and clicks say which is preferred") {
  LiveServer live;
  PrepareTwoOrders(&live);
  Create(live, InterleavedExperiment());
  Start(live);
  Api api(live);
  const auto scope = (*live.engine->OpenCollection({}, false))->scope();
  std::set<std::string> beginnings;
  for (int i = 0; i < 60; ++i) {
    const std::string user = "new" + std::to_string(i);
    v1::RecommendRequest request = Of(user);
    request.set_page_size(10);
    if (i == 0) request.set_exploration(.5);
    const v1::RecommendResponse answer = Feed(&api, request);
    CHECK(answer.degraded_size() == (i == 0 ? 1 : 0));
    if (i == 0) CHECK(answer.degraded(0).stage() == "exploration");
    REQUIRE(answer.arms_size() == 1);
    CHECK(answer.arms(0).arm() == "interleaved");
    CHECK(answer.arms(0).release() == "r1+r2");
    const auto ids = Ids(answer);
    REQUIRE(ids.size() == 10);
    CHECK(std::set<std::string>(ids.begin(), ids.end()).size() == 10);  // none twice
    beginnings.insert(ids[0]);
    CHECK(live.engine->ReadAttributionToken(answer.attribution_token())->arm() == "x/interleaved");
    const auto list = live.engine->store().GetExposure(scope, "x", "r:" + answer.request_id());
    REQUIRE(list.ok());
    CHECK(list->reader() == "u:" + user);
    REQUIRE(list->items_size() >= 10);
    REQUIRE(list->teams().size() == static_cast<size_t>(list->items_size()));
    // In each round both pick.
    for (size_t round = 0; round + 1 < 10; round += 2)
      CHECK(list->teams()[round] + list->teams()[round + 1] == 3);
    // This reader likes what r2 brought.
    for (int place = 0; place < 10; ++place) {
      if (list->teams()[static_cast<size_t>(place)] != 2) continue;
      CHECK(live.engine->store().ItemId(scope, list->items(place)) == ids[static_cast<size_t>(place)]);
      Click(&api, user, answer, ids[static_cast<size_t>(place)]);
      break;
    }
    // The second page goes on with the same list.
    request.set_page_token(answer.next_page_token());
    const v1::RecommendResponse second = Feed(&api, request);
    for (const std::string& id : Ids(second)) CHECK(std::find(ids.begin(), ids.end(), id) == ids.end());
  }
  CHECK(beginnings.size() >= 2);  // each begins now and then
  for (const bool restarted : {false, true}) {
    if (restarted) live.Restart();
    const v1::ExperimentReport report = Report(live);
    REQUIRE(report.interleaving_size() == 1);
    CHECK(report.interleaving(0).lists() == 60);
    CHECK(report.interleaving(0).treatment_wins() == 60);
    CHECK(report.interleaving(0).preference() == Approx(.5));
    CHECK(report.winner() == "new");
    CHECK(report.mode() == v1::Experiment::INTERLEAVED);
  }
  // The log of served lists has the team of each place shown.
  ServedLogOptions options;
  options.read_only = true;
  const auto log = ServedLog::Open(live.folder.path / "data", options);
  REQUIRE(log.ok());
  int interleaved = 0;
  const auto visit = [&](const storage::ServeRecord& record) {
    if (record.arm() != "x/interleaved") return true;
    CHECK(record.teams().size() == static_cast<size_t>(record.shown_size()));
    return ++interleaved > 0;
  };
  REQUIRE((*log)->ForEach(scope, std::nullopt, visit).ok());
  CHECK(interleaved == 60);
}

TEST_CASE("Three releases make one list, and each treatment is held against the control") {
  LiveServer live;
  PrepareTwoOrders(&live);
  storage::BlendingPlan plan;
  plan.add_sources()->set_name("popularity");
  plan.mutable_sources(0)->set_limit(100);
  plan.mutable_sources(0)->set_weight(1);
  plan.set_fusion_k(60);
  plan.set_rank_limit(100);
  PutRelease(live, "r3", "", plan);  // as r1
  std::string experiment = InterleavedExperiment();
  const std::string arms = experiment.substr(experiment.find("\"arms\""),
                                             experiment.find("\"metrics\"") - experiment.find("\"arms\""));
  experiment.replace(experiment.find(arms), arms.size(),
                     R"("arms": [{"name": "control", "release": "r1", "weight": 0.3333333333},
                                 {"name": "new", "release": "r2", "weight": 0.3333333333},
                                 {"name": "third", "release": "r3", "weight": 0.3333333334}], )");
  Create(live, experiment);
  Start(live);
  Api api(live);
  const auto scope = (*live.engine->OpenCollection({}, false))->scope();
  for (int i = 0; i < 30; ++i) {
    const std::string user = "new" + std::to_string(i);
    const v1::RecommendResponse answer = Feed(&api, Of(user));
    REQUIRE(answer.arms_size() == 1);
    CHECK(answer.arms(0).release() == "r1+r2+r3");
    const auto list = live.engine->store().GetExposure(scope, "x", "r:" + answer.request_id());
    REQUIRE(list.ok());
    std::set<char> teams(list->teams().begin(), list->teams().begin() + 3);
    CHECK(teams == std::set<char>{1, 2, 3});
    const auto place = list->teams().find(char{2});
    Click(&api, user, answer, live.engine->store().ItemId(scope, list->items(static_cast<int>(place))));
  }
  const v1::ExperimentReport report = Report(live);
  REQUIRE(report.interleaving_size() == 2);
  CHECK(report.interleaving(0).arm() == "new");
  CHECK(report.interleaving(0).treatment_wins() == 30);
  CHECK(report.interleaving(1).arm() == "third");
  CHECK(report.interleaving(1).ties() == 30);
  CHECK(report.winner() == "new");
}

TEST_CASE(
    "Where an order or a caller's candidates say what stands where, nothing is interleaved or counted") {
  LiveServer live;
  PrepareTwoOrders(&live);
  Create(live, InterleavedExperiment());
  Start(live);
  Api api(live);
  v1::SearchRequest search;
  search.set_query("star");
  search.set_user_id("u1");
  search.set_order_by("year");
  v1::SearchResponse found;
  REQUIRE(api.Search(search, &found).ok());
  CHECK(found.arms().empty());
  search.clear_order_by();
  REQUIRE(api.Search(search, &found).ok());
  CHECK(found.arms_size() == 1);
  CHECK(Report(live).interleaving(0).lists() == 1);
}

TEST_CASE("Decide makes the decision that the figures call for, once, and says what is missing") {
  LiveServer live;
  Prepare(&live);
  Create(live);
  int status = 0;
  json answer = live.Post("/v1/experiments/x:decide", R"({"by": "ann"})", &status);
  CHECK(status == 400);  // a draft
  Start(live);
  answer = live.Post("/v1/experiments/x:decide", R"({"by": "ann"})", &status);
  REQUIRE(status == 200);
  CHECK(answer.value("action", "") == "");
  CHECK_THAT(std::string(answer["missing"][0]), Catch::StartsWith("ramp: min_exposures"));
  Api api(live);
  for (int i = 0; i < 40; ++i) Feed(&api, Of("u" + std::to_string(i)));
  answer = live.Post("/v1/experiments/x:decide", R"({"validate_only": true})", &status);
  REQUIRE(status == 200);
  CHECK(answer["action"] == "ramp");
  CHECK(answer["experiment"]["coverage"] == .5);  // nothing was decided
  answer = live.Post("/v1/experiments/x:decide", R"({"by": "ann", "reason": "monday"})", &status);
  REQUIRE(status == 200);
  CHECK(answer["experiment"]["coverage"] == 1);
  const v1::ExperimentReport report = Report(live);
  const v1::Decision& decision = report.decisions(report.decisions_size() - 1);
  CHECK(decision.by() == "ann");
  CHECK_THAT(decision.reason(), Catch::StartsWith("monday; all conditions hold"));
  answer = live.Post("/v1/experiments/x:decide", R"({"by": "ann"})", &status);
  CHECK(answer.value("action", "") == "");
  answer = live.Post("/v1/experiments/x:decide", "{}", &status);
  CHECK(status == 400);
}

TEST_CASE("Layers and holdouts over the API") {
  LiveServer live;
  Prepare(&live);
  const auto put = [&](const std::string& id, const std::string& layer, int* status) {
    const auto result = live.http()->Put("/v1/layers/" + id, layer, "application/json");
    REQUIRE(result);
    *status = result->status;
    return json::parse(result->body);
  };
  int status = 0;
  CHECK(put("ranking", R"({"holdout": 0.1})", &status)["holdout"] == .1);
  CHECK(status == 200);
  CHECK_THAT(std::string(put("ranking", R"({"holdout": 1.5})", &status)["error"]["message"]),
             Catch::StartsWith("holdout is 1.5"));
  std::string experiment = kExperiment;
  const std::string ramp = R"("ramp": [0.5, 1])";
  experiment.replace(experiment.find(ramp), ramp.size(),
                     R"("ramp": [1], "layer": "ranking", "slot_begin": 0, "slot_end": 0.5)");
  Create(live, experiment);
  std::string other = experiment;
  other.replace(other.find("\"x\""), 3, "\"y\"");
  other.replace(other.find("\"slot_begin\": 0"), 15, "\"slot_begin\": 0.4");
  const json overlap = live.Post("/v1/experiments", other, &status);
  CHECK(status == 400);
  CHECK_THAT(std::string(overlap["error"]["message"]),
             Catch::Contains("overlaps [0, 0.5) of experiment 'x'"));
  // The whole collection's holdout: nobody is drawn where it is nearly everybody.
  CHECK(put("-", R"({"holdout": 0.999})", &status)["id"] == "-");
  Start(live);
  Api api(live);
  int drawn = 0;
  for (int i = 0; i < 100; ++i) drawn += Feed(&api, Of("u" + std::to_string(i))).arms_size();
  CHECK(drawn <= 2);
  put("-", R"({})", &status);
  for (int i = 0; i < 100; ++i) drawn += Feed(&api, Of("u" + std::to_string(i))).arms_size();
  CHECK(drawn > 25);
  CHECK(drawn < 65);  // half of the layer, less its holdout
  const json layers = live.Get("/v1/layers", &status)["layers"];
  REQUIRE(layers.size() == 2);
  CHECK(layers[1]["experiments"] == json::array({"x"}));
  const auto refused = live.http()->Delete("/v1/layers/ranking");
  REQUIRE(refused);
  CHECK(refused->status == 400);
}

TEST_CASE("Experiments are listed page by page") {
  LiveServer live;
  Prepare(&live);
  for (const char* id : {"a", "b", "c", "d", "e"}) {
    std::string experiment = kExperiment;
    experiment.replace(experiment.find("\"x\""), 3, std::string("\"") + id + "\"");
    Create(live, experiment);
  }
  std::string token, ids;
  int status = 0, pages = 0;
  do {
    const json page = live.Get("/v1/experiments?page_size=2&page_token=" + token, &status);
    REQUIRE(status == 200);
    for (const auto& experiment : page["experiments"]) ids += experiment["id"];
    token = page.value("next_page_token", "");
    ++pages;
  } while (!token.empty());
  CHECK(ids == "abcde");
  CHECK(pages == 3);
  live.Get("/v1/experiments?page_token=nonsense", &status);
  CHECK(status == 400);
  live.Get("/v1/experiments?page_size=-1", &status);
  CHECK(status == 400);
}
