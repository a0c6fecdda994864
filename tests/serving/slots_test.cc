// Content slots over HTTP: variants, what is shown to whom, single releases with roll-back, and tests of
// variants.
#include "absl/time/clock.h"
#include "tests/serving/api_client.h"
#include "tests/serving/experiment_calls.h"

using namespace waymark;
using namespace waymark::tests;
using nlohmann::json;

namespace {

json PutVariant(const LiveServer& live, const std::string& id, const std::string& variant, int* status,
                const std::string& slot = "hero") {
  const auto result = live.http()->Put("/v1/slots/" + slot + "/variants/" + id, variant, "application/json");
  REQUIRE(result);
  *status = result->status;
  return json::parse(result->body);
}

void MustPut(const LiveServer& live, const std::string& id, const std::string& variant) {
  int status = 0;
  const json answer = PutVariant(live, id, variant, &status);
  INFO(answer.dump());
  REQUIRE(status == 200);
}

json Do(const LiveServer& live, const std::string& path, const std::string& body, int expected = 200) {
  int status = 0;
  json answer = live.Post(path, body, &status);
  INFO(path << " " << answer.dump());
  REQUIRE(status == expected);
  return answer;
}

json Activate(const LiveServer& live, const std::string& variant, int expected = 200) {
  return Do(live, "/v1/slots/hero:activate",
            R"({"by": "ann", "reason": "why not", "variant": ")" + variant + "\"}", expected);
}
json Rollback(const LiveServer& live, int expected = 200) {
  return Do(live, "/v1/slots/hero:rollback", R"({"by": "bob"})", expected);
}

json Get(const LiveServer& live, const std::string& arguments = "") {
  int status = 0;
  json answer = live.Get("/v1/slots/hero" + arguments, &status);
  INFO(answer.dump());
  REQUIRE(status == 200);
  return answer;
}
std::string Shown(const LiveServer& live, const std::string& arguments = "") {
  return Get(live, arguments).value("variant", "");
}

std::string MessageOf(const json& error) { return error["error"]["message"]; }

}  // namespace

TEST_CASE("A slot shows what is activated, goes back in one call, and remembers over a restart") {
  LiveServer live;
  MustPut(live, "spring", R"({"payload": {"image": "/spring.png"}})");
  MustPut(live, "summer", R"({"payload": {"image": "/summer.png"}})");
  CHECK(Shown(live) == "");  // put, and not activated
  CHECK(Activate(live, "spring")["active"] == "spring");
  CHECK(Get(live)["payload"]["image"] == "/spring.png");
  CHECK(Activate(live, "summer")["active"] == "summer");
  CHECK(Shown(live) == "summer");
  live.Restart();
  CHECK(Shown(live) == "summer");
  CHECK(Rollback(live)["active"] == "spring");
  CHECK(Shown(live) == "spring");
  CHECK(Rollback(live).value("active", "") == "");  // a roll-back of a roll-back goes further back
  CHECK(Shown(live) == "");
  CHECK_THAT(MessageOf(Rollback(live, 400)), Catch::Contains("shows nothing"));
  int status = 0;
  const json slots = live.Get("/v1/slots", &status)["slots"];
  REQUIRE(slots.size() == 1);
  REQUIRE(slots[0]["activations"].size() == 4);
  CHECK(slots[0]["activations"][1]["reason"] == "why not");
  CHECK(slots[0]["activations"][2]["by"] == "bob");
  CHECK(slots[0]["activations"][2]["rollback"] == true);
}

TEST_CASE("Where the newest variant is not meant or not valid, the one before is shown") {
  LiveServer live;
  MustPut(live, "all", R"({"payload": {"n": 1}})");
  MustPut(live, "dutch", R"({"payload": {"n": 2}, "targeting": "country = \"nl\""})");
  MustPut(live, "past", R"({"payload": {"n": 3}, "valid_until": "2001-01-01T00:00:00Z"})");
  MustPut(live, "future", R"({"payload": {"n": 4}, "valid_from": "2201-01-01T00:00:00Z"})");
  for (const char* variant : {"all", "dutch", "past"}) Activate(live, variant);
  const json slot = Activate(live, "future");
  CHECK(slot["active"] == "future");
  CHECK(slot["fallbacks"] == json::array({"past", "dutch", "all"}));
  CHECK(Shown(live) == "all");
  CHECK(Do(live, "/v1/slots/hero:get", R"({"context": {"country": "de"}})")["variant"] == "all");
  CHECK(Shown(live, "?variant=past") == "past");  // a tester's
  CHECK(Do(live, "/v1/slots/hero:get", R"({"context": {"country": "nl"}})")["variant"] == "dutch");
}

TEST_CASE("What a slot or a variant cannot be is told by field") {
  LiveServer live;
  int status = 0;
  CHECK_THAT(MessageOf(PutVariant(live, "a", R"({"targeting": "planet = \"mars\""})", &status)),
             Catch::StartsWith("variant.targeting: "));
  CHECK(status == 400);
  CHECK_THAT(
      MessageOf(PutVariant(live, "a",
                           R"({"valid_from": "2020-01-01T00:00:00Z", "valid_until": "2019-01-01T00:00:00Z"})",
                           &status)),
      Catch::StartsWith("variant.valid_until: "));
  CHECK_THAT(MessageOf(PutVariant(live, "a", R"({"id": "b"})", &status)),
             Catch::StartsWith("variant.id: is 'b'"));
  CHECK_THAT(MessageOf(PutVariant(live, "a%20b", "{}", &status)), Catch::StartsWith("id: is 'a b'"));
  const std::string large(70000, 'x');
  CHECK_THAT(MessageOf(PutVariant(live, "a", R"({"payload": {"text": ")" + large + "\"}}", &status)),
             Catch::StartsWith("variant.payload: has 70"));
  json error = live.Get("/v1/slots/hero", &status);
  CHECK(status == 404);
  MustPut(live, "a", R"({"payload": {"n": 1}})");
  error = live.Get("/v1/slots/nowhere", &status);
  CHECK(status == 404);
  CHECK_THAT(error.dump(), Catch::Contains("SLOT_NOT_FOUND"));
  error = Activate(live, "b", 404);
  CHECK_THAT(error.dump(), Catch::Contains("SLOT_VARIANT_NOT_FOUND"));
  Activate(live, "a");
  const auto removed = live.http()->Delete("/v1/slots/hero/variants/a");
  REQUIRE(removed);
  CHECK(removed->status == 400);
  CHECK_THAT(removed->body, Catch::Contains("is shown by slot 'hero'"));
}

TEST_CASE(
    "Variants of a slot are tested like releases: split, counted by their tokens, and the winner is shown") {
  LiveServer live;
  MustPut(live, "old", R"({"payload": {"n": 1}})");
  MustPut(live, "new", R"({"payload": {"n": 2}})");
  MustPut(live, "other", R"({"payload": {"n": 3}})");
  Activate(live, "other");
  const std::string experiment = R"({"by": "ann", "experiment": {
    "id": "x", "hypothesis": "more clicks", "min_exposures": 1, "ramp": [1],
    "arms": [{"name": "control", "slot_variant": "slots/hero/variants/old", "weight": 0.5},
             {"name": "new", "slot_variant": "slots/hero/variants/new", "weight": 0.5}],
    "metrics": [{"name": "clicks", "kind": "PROPORTION", "events": {"type": "click"}, "window": "604800s"}],
    "primary_metric": "clicks"}})";
  Create(live, experiment);
  Start(live);
  Api api(live);
  std::map<std::string, int> shown;
  for (int i = 0; i < 200; ++i) {
    const std::string user = "u" + std::to_string(i);
    const json answer = Get(live, "?user_id=" + user);
    REQUIRE(answer["arms"].size() == 1);
    const std::string arm = answer["arms"][0]["arm"];
    CHECK(answer["variant"] == (arm == "new" ? "new" : "old"));
    CHECK(Get(live, "?user_id=" + user)["variant"] == answer["variant"]);  // it stays
    const auto attribution = live.engine->ReadAttributionToken(std::string(answer["attribution_token"]));
    REQUIRE(attribution.ok());
    CHECK(attribution->arm() == "x/" + arm);
    CHECK(attribution->slot_variant() == "slots/hero/variants/" + std::string(answer["variant"]));
    ++shown[arm];
    if (arm == "control" || i % 4 == 0) continue;
    v1::WriteEventsRequest write;
    v1::Event* event = write.add_events();
    event->set_type("click");
    event->set_user_id(user);
    event->set_attribution_token(answer["attribution_token"]);
    v1::WriteEventsResponse written;
    REQUIRE(api.WriteEvents(write, &written).ok());
    REQUIRE(written.results(0).code() == 0);
  }
  CHECK(shown["control"] > 70);
  CHECK(shown["new"] > 70);
  v1::ListEventsRequest list;
  v1::ListEventsResponse events;
  REQUIRE(api.ListEvents(list, &events).ok());
  REQUIRE(events.events_size() > 40);
  for (const v1::Event& event : events.events()) {
    CHECK(event.arm() == "x/new");
    CHECK_FALSE(event.request_id().empty());
  }
  const v1::ExperimentReport report = Report(live);
  CHECK(report.winner() == "new");
  CHECK(report.arms(1).units() == shown["new"]);

  // What is tested stays what it was.
  int status = 0;
  CHECK_THAT(MessageOf(PutVariant(live, "new", R"({"payload": {"n": 9}})", &status)),
             Catch::Contains("arm of experiment x"));
  CHECK(status == 400);
  Do(live, "/v1/experiments/x:stop",
     R"({"by": "ann", "outcome": "RELEASE", "winner": "new", "override_reason": "a test"})");
  CHECK(Shown(live, "?user_id=somebody") == "new");
  live.Restart();
  CHECK(Shown(live, "?user_id=somebody") == "new");
  Do(live, "/v1/experiments/x:stop", R"({"by": "ann", "outcome": "ROLL_BACK"})");
  CHECK(Shown(live) == "old");
}

TEST_CASE("Arms of an experiment are variants that exist, of one slot") {
  LiveServer live;
  MustPut(live, "old", R"({"payload": {"n": 1}})");
  int status = 0;
  PutVariant(live, "other", R"({"payload": {"n": 1}})", &status, "footer");
  const auto refusal = [&](const std::string& second) {
    const std::string experiment = R"({"by": "ann", "experiment": {"id": "x", "hypothesis": "h",
      "arms": [{"name": "control", "slot_variant": "slots/hero/variants/old", "weight": 0.5},
               {"name": "new", "slot_variant": ")" +
                                   second + R"(", "weight": 0.5}],
      "metrics": [{"name": "clicks", "kind": "MEAN", "events": {"type": "click"}, "window": "604800s"}],
      "primary_metric": "clicks"}})";
    return MessageOf(live.Post("/v1/experiments", experiment, &status));
  };
  CHECK_THAT(refusal("slots/hero/variants/new"), Catch::Contains("does not exist"));
  CHECK_THAT(refusal("slots/footer/variants/other"),
             Catch::Contains("is of slot 'footer', and arms[0] of 'hero'"));
  CHECK_THAT(refusal("hero/new"), Catch::Contains("it takes slots/{slot}/variants/{variant}"));
}
