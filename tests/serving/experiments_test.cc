// Experiments in the running server: who is answered with which release, what is counted, what is decided.
#include <map>
#include <optional>

#include "store/served_log.h"
#include "tests/serving/experiment_calls.h"
#include "waymark/v1/rank.grpc.pb.h"
#include "waymark/v1/release.grpc.pb.h"
#include "waymark/v1/user.grpc.pb.h"

using namespace waymark;
using namespace waymark::tests;

namespace {

constexpr int kUsers = 200;

// User -> arm of those that have one. Each answer is made by the release that its arm names.
std::map<std::string, std::string> ServeAll(const LiveServer& live, const std::string& otherwise = "r1") {
  std::map<std::string, std::string> arms;
  Api api(live);
  for (int i = 0; i < kUsers; ++i) {
    const std::string user = "u" + std::to_string(i);
    const v1::RecommendResponse response = Feed(&api, Of(user));
    REQUIRE(response.results_size() > 0);
    if (response.arms().empty()) {
      REQUIRE(response.served_by().release() == otherwise);
      continue;
    }
    REQUIRE(response.arms_size() == 1);
    REQUIRE(response.arms(0).experiment() == "x");
    REQUIRE(response.arms(0).release() == (response.arms(0).arm() == "new" ? "r2" : "r1"));
    REQUIRE(response.served_by().release() == response.arms(0).release());
    arms[user] = response.arms(0).arm();
  }
  return arms;
}

}  // namespace

TEST_CASE("An experiment splits traffic, counts, grows, survives a restart, and releases its winner") {
  LiveServer live;
  Prepare(&live);
  Create(live);
  CHECK(ServeAll(live).empty());  // a draft
  CHECK(Start(live).coverage() == .5);

  const auto first = ServeAll(live);
  CHECK(first.size() > kUsers / 4);
  CHECK(first.size() < kUsers * 3 / 4);
  CHECK(ServeAll(live) == first);
  CHECK(Units(live) == static_cast<int64_t>(first.size()));

  int status = 0;
  const auto ramped =
      live.Post("/v1/experiments/x:ramp", R"({"by": "ann", "reason": "looks good"})", &status);
  INFO(ramped.dump());
  REQUIRE(status == 200);
  const auto all = ServeAll(live);
  CHECK(all.size() == kUsers);
  for (const auto& [user, arm] : first) CHECK(all.at(user) == arm);
  CHECK(Units(live) == kUsers);

  live.Restart();
  CHECK(ServeAll(live) == all);
  CHECK(Units(live) == kUsers);
  const v1::ExperimentReport report = Report(live);
  REQUIRE(report.arms_size() == 2);
  CHECK(report.arms(0).units() > kUsers / 4);
  CHECK(report.arms(1).units() > kUsers / 4);
  REQUIRE(report.decisions_size() == 3);
  CHECK(report.decisions(2).reason() == "looks good");
  const auto over_http = live.Get("/v1/experiments/x:report", &status);
  CHECK(status == 200);
  CHECK(over_http["arms"][0]["units"] == std::to_string(report.arms(0).units()));

  v1::StopExperimentRequest stop;
  stop.set_id("x");
  stop.set_by("ann");
  stop.set_outcome(v1::StopExperimentRequest::RELEASE);
  stop.set_winner("new");
  v1::Experiment stopped;
  const grpc::Status refused = Call(live, &ExperimentStub::StopExperiment, stop, &stopped);
  CHECK(refused.error_code() == grpc::StatusCode::FAILED_PRECONDITION);
  CHECK_THAT(refused.error_message(), Catch::Contains("min_run_time"));
  stop.set_override_reason("a test");
  const grpc::Status released = Call(live, &ExperimentStub::StopExperiment, stop, &stopped);
  INFO(released.error_message());
  REQUIRE(released.ok());
  CHECK(stopped.state() == v1::Experiment::RELEASED);
  CHECK(live.Get("/v1/releases/r2", &status)["active"] == true);
  CHECK(ServeAll(live, "r2").empty());
  live.Restart();
  CHECK(ServeAll(live, "r2").empty());

  live.Post("/v1/experiments/x:stop", R"({"by": "bob", "outcome": "ROLL_BACK", "reason": "complaints"})",
            &status);
  REQUIRE(status == 200);
  CHECK(live.Get("/v1/releases/r1", &status)["active"] == true);
  CHECK(ServeAll(live).empty());
  CHECK(Report(live).state() == v1::Experiment::ROLLED_BACK);
  live.Post("/v1/experiments/x:stop", R"({"by": "bob", "outcome": "ROLL_BACK"})", &status);
  CHECK(status == 400);  // it has been rolled back
}

TEST_CASE("What was served keeps its arm, in the log of served lists and in the attribution token") {
  LiveServer live;
  Prepare(&live);
  Create(live);
  Start(live);
  Api api(live);
  std::map<std::string, std::string> arms;  // request -> arm, empty: none
  for (int i = 0; i < 40; ++i) {
    const v1::RecommendResponse answer = Feed(&api, Of("u" + std::to_string(i)));
    const std::string arm = answer.arms().empty() ? "" : "x/" + answer.arms(0).arm();
    const auto attribution = live.engine->ReadAttributionToken(answer.attribution_token());
    REQUIRE(attribution.ok());
    CHECK(attribution->arm() == arm);
    arms[answer.request_id()] = arm;
  }
  live.Restart();  // what is queued is written
  ServedLogOptions options;
  options.read_only = true;
  const auto log = ServedLog::Open(live.folder.path / "data", options);
  REQUIRE(log.ok());
  const Scope scope = (*live.engine->OpenCollection({}, false))->scope();
  std::map<std::string, std::string> logged;
  const auto visit = [&](const storage::ServeRecord& record) {
    logged[record.request_id()] = record.arm();
    return true;
  };
  REQUIRE((*log)->ForEach(scope, std::nullopt, visit).ok());
  CHECK(logged == arms);
}

TEST_CASE("Testers, callers who name a release, and requests without a profile do not count") {
  LiveServer live;
  Prepare(&live);
  Create(live);
  Start(live);
  Api api(live);
  v1::RecommendRequest request = Of("tester");
  for (const char* arm : {"new", "control"}) {
    (*request.mutable_experiment_arms())["x"] = arm;
    const v1::RecommendResponse response = Feed(&api, request);
    REQUIRE(response.arms_size() == 1);
    CHECK(response.arms(0).arm() == arm);
    CHECK(response.arms(0).reason() == "forced");
    CHECK(response.served_by().release() == response.arms(0).release());
  }
  for (int i = 0; i < 20; ++i) {
    request = Of("n" + std::to_string(i));
    request.set_release("r2");
    const v1::RecommendResponse named = Feed(&api, request);
    CHECK(named.arms().empty());
    CHECK(named.served_by().release() == "r2");
    request.clear_release();
    request.set_personalization(v1::OFF);
    CHECK(Feed(&api, request).arms().empty());
  }
  CHECK(Units(live) == 0);
}

TEST_CASE("What a tester asks for and cannot have is told, not passed over") {
  LiveServer live;
  Prepare(&live);
  Create(live);
  Api api(live);
  const auto refusal = [&](const v1::RecommendRequest& request) {
    v1::RecommendResponse response;
    const grpc::Status status = api.Recommend(request, &response);
    CHECK(status.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
    return status.error_message();
  };
  v1::RecommendRequest request = Of("tester");
  (*request.mutable_experiment_arms())["x"] = "new";
  CHECK(refusal(request) ==
        "experiment_arms: names 'x', which is no running experiment; those are: none");  // a draft
  Start(live);
  (*request.mutable_experiment_arms())["x"] = "newer";
  CHECK(refusal(request) == "experiment_arms: names arm 'newer' of experiment 'x', which has control, new");
  (*request.mutable_experiment_arms())["x"] = "new";
  (*request.mutable_experiment_arms())["y"] = "new";
  CHECK(refusal(request) == "experiment_arms: names 'y', which is no running experiment; those are: x");
  request.mutable_experiment_arms()->erase("y");
  request.set_release("r2");
  CHECK(refusal(request) == "experiment_arms: stands beside `release`; name an arm or a release");

  v1::AssignUnitsRequest units;
  v1::AssignUnitsResponse assigned;
  units.add_units()->set_user_id("u1");
  units.add_units();
  grpc::Status status = Call(live, &ExperimentStub::AssignUnits, units, &assigned);
  CHECK(status.error_message() ==
        "units[1]: names nobody; it takes a user_id, visitor_id, session_id or request_id");
  units.mutable_units()->RemoveLast();
  (*units.mutable_units(0)->mutable_overrides())["x"] = "old";
  status = Call(live, &ExperimentStub::AssignUnits, units, &assigned);
  CHECK(status.error_message() ==
        "units[0].overrides: names arm 'old' of experiment 'x', which has control, new");
  units.mutable_units(0)->clear_overrides();
  units.add_experiments("z");
  CHECK(Call(live, &ExperimentStub::AssignUnits, units, &assigned).error_code() ==
        grpc::StatusCode::NOT_FOUND);
}

TEST_CASE("Later pages stay with the release that made the list, and with their arm") {
  LiveServer live;
  Prepare(&live);
  Create(live);
  Start(live);
  Api api(live);
  int in_arms = 0;
  for (int i = 0; i < 20; ++i) {
    v1::RecommendRequest request = Of("u" + std::to_string(i));
    request.set_page_size(5);
    const v1::RecommendResponse first = Feed(&api, request);
    request.set_page_token(first.next_page_token());
    if (i == 10) {  // whoever is taken in between two pages finishes the list as it was
      int status = 0;
      live.Post("/v1/experiments/x:ramp", R"({"by": "ann", "override_reason": "a test"})", &status);
      REQUIRE(status == 200);
    }
    const v1::RecommendResponse second = Feed(&api, request);
    CHECK(second.served_by().release() == first.served_by().release());
    in_arms += second.arms_size();
  }
  CHECK(in_arms > 0);
}

TEST_CASE("Searches and rankings are split too") {
  LiveServer live;
  Prepare(&live);
  Create(live);
  Start(live);
  Api api(live);
  int searches = 0, rankings = 0;
  for (int i = 0; i < 40; ++i) {
    v1::SearchRequest search;
    search.set_query("star");
    search.set_visitor_id("v" + std::to_string(i));
    v1::SearchResponse found;
    REQUIRE(api.Search(search, &found).ok());
    searches += found.arms_size();
    v1::RankRequest rank;
    rank.set_visitor_id(search.visitor_id());
    rank.add_candidates()->set_item_id("m1");
    v1::RankResponse ranked;
    grpc::ClientContext context;
    REQUIRE(v1::RankService::NewStub(live.channel())->Rank(&context, rank, &ranked).ok());
    rankings += ranked.arms_size();
  }
  CHECK(searches > 5);
  CHECK(rankings == searches);
  CHECK(Units(live) == searches);
}

TEST_CASE("What an experiment cannot be is refused with the field; what is not there, with its name") {
  LiveServer live;
  Prepare(&live);
  int status = 0;
  std::string uneven = kExperiment;
  uneven.replace(uneven.find("0.5"), 3, "0.7");
  auto refused = live.Post("/v1/experiments", uneven, &status);
  CHECK(status == 400);
  CHECK_THAT(std::string(refused["error"]["message"]), Catch::Contains("add up to 1.2"));
  std::string nobody = kExperiment;
  nobody.replace(nobody.find("ann"), 3, "");
  refused = live.Post("/v1/experiments", nobody, &status);
  CHECK(status == 400);
  CHECK_THAT(std::string(refused["error"]["message"]), Catch::StartsWith("by: "));
  refused = live.Get("/v1/experiments/x", &status);
  CHECK(status == 404);
  CHECK_THAT(refused.dump(), Catch::Contains("EXPERIMENT_NOT_FOUND"));
  Create(live);
  live.Post("/v1/experiments", kExperiment, &status);
  CHECK(status == 409);
  live.Get("/v1/experiments/x:report", &status);
  CHECK(status == 400);  // a draft
  refused = live.Post("/v1/experiments/x:stop", R"({"by": "ann"})", &status);
  CHECK(status == 400);
  CHECK_THAT(std::string(refused["error"]["message"]), Catch::StartsWith("outcome: "));

  PutRelease(live, "broken", "gone");
  std::string broken = kExperiment;
  broken.replace(broken.find("r2"), 2, "broken");
  broken.replace(broken.find("\"x\""), 3, "\"y\"");
  live.Post("/v1/experiments", broken, &status);
  REQUIRE(status == 200);
  refused = live.Post("/v1/experiments/y:start", R"({"by": "ann"})", &status);
  CHECK(status == 400);
  CHECK_THAT(std::string(refused["error"]["message"]),
             Catch::Contains("arms[1].release 'broken' does not load"));
  CHECK(live.Get("/v1/experiments/y", &status)["state"] == "DRAFT");

  Start(live);
  v1::DeleteExperimentRequest remove;
  remove.set_id("x");
  remove.set_by("ann");
  v1::DeleteExperimentResponse removed;
  CHECK(Call(live, &ExperimentStub::DeleteExperiment, remove, &removed).error_code() ==
        grpc::StatusCode::FAILED_PRECONDITION);
  live.Post("/v1/experiments/x:stop", R"({"by": "ann", "outcome": "ROLL_BACK"})", &status);
  CHECK(status == 200);
  CHECK(ServeAll(live).empty());
  CHECK(Call(live, &ExperimentStub::DeleteExperiment, remove, &removed).ok());
  v1::ListExperimentsResponse list;
  REQUIRE(Call(live, &ExperimentStub::ListExperiments, v1::ListExperimentsRequest(), &list).ok());
  REQUIRE(list.experiments_size() == 1);
  CHECK(list.experiments(0).id() == "y");
}

TEST_CASE("Other services ask which arms units see, and an erased user is in none") {
  LiveServer live;
  Prepare(&live);
  Create(live);
  Start(live);
  v1::AssignUnitsRequest request;
  for (int i = 0; i < kUsers; ++i) request.add_units()->set_user_id("u" + std::to_string(i));
  v1::AssignUnitsResponse asked, exposed;
  REQUIRE(Call(live, &ExperimentStub::AssignUnits, request, &asked).ok());
  CHECK(Units(live) == 0);
  request.set_expose(true);
  REQUIRE(Call(live, &ExperimentStub::AssignUnits, request, &exposed).ok());
  REQUIRE(exposed.units_size() == kUsers);
  int64_t assigned = 0;
  for (int i = 0; i < kUsers; ++i) {
    REQUIRE(exposed.units(i).assignments_size() == 1);
    CHECK(exposed.units(i).assignments(0).arm() == asked.units(i).assignments(0).arm());
    assigned += !exposed.units(i).assignments(0).arm().empty();
  }
  CHECK(assigned > 0);
  CHECK(Units(live) == assigned);
  const auto arms = ServeAll(live);
  CHECK(arms.size() == static_cast<size_t>(assigned));

  v1::PutUsersRequest put;
  put.add_users()->set_id(arms.begin()->first);
  v1::PutUsersResponse written;
  grpc::ClientContext first, second;
  const auto users = v1::UserService::NewStub(live.channel());
  REQUIRE(users->PutUsers(&first, put, &written).ok());
  v1::DeleteUserRequest erase;
  erase.set_name("users/" + arms.begin()->first);
  v1::DeleteUserResponse erased;
  const grpc::Status status = users->DeleteUser(&second, erase, &erased);
  INFO(status.error_message());
  REQUIRE(status.ok());
  CHECK(Units(live) == assigned - 1);
}

TEST_CASE("An experiment's id can stand in a path, as a release's") {
  LiveServer live;
  int status = 0;
  live.Post("/v1/items:put", R"({"items":[{"id":"a"}]})", &status);
  for (const std::string id : {"x/8", ".x", "x y"}) {
    INFO(id);
    const auto json =
        live.Post("/v1/experiments", R"({"by": "ann", "experiment": {"id": ")" + id + "\"}}", &status);
    CHECK(status == 400);
    CHECK_THAT(std::string(json["error"]["message"]),
               Catch::StartsWith("experiment.id: is '" + id + "'; it takes "));
  }
}
