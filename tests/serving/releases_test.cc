// Activation over the API: what is checked before, what may be set aside, and what may not.
#include "tests/serving/experiment_calls.h"

using namespace waymark;
using namespace waymark::tests;
using nlohmann::json;

namespace {

// r1 serves; «hollow» finds nothing in a feed.
void PrepareHollow(LiveServer* live) {
  Prepare(live);
  storage::BlendingPlan words;
  words.add_sources()->set_name("keyword");
  words.mutable_sources(0)->set_limit(10);
  words.mutable_sources(0)->set_weight(1);
  words.set_fusion_k(60);
  words.set_rank_limit(10);
  PutRelease(*live, "hollow", "", words);
  REQUIRE((*live->engine->OpenCollection({}, false))->CatchUp(Deadline::Never()).ok());
}

std::string ActiveOf(const LiveServer& live) {
  int status = 0;
  const json answer = live.Get("/v1/releases", &status);
  for (const auto& release : answer["releases"]) {
    if (release.value("active", false)) return release["id"];
  }
  return "";
}

}  // namespace

TEST_CASE("A dry run says what was looked at, and activates nothing") {
  LiveServer live;
  Prepare(&live);
  int status = 0;
  const json answer = live.Post("/v1/releases/r2:activate", R"({"validate_only": true})", &status);
  REQUIRE(status == 200);
  REQUIRE(answer["checks"].size() == 5);
  for (const auto& check : answer["checks"]) CHECK(check["holds"] == true);
  CHECK(answer["checks"][4]["name"] == "shadow");
  CHECK(ActiveOf(live) == "r1");
  live.Post("/v1/releases/r2:activate", "{}", &status);
  CHECK(status == 200);
  CHECK(ActiveOf(live) == "r2");
  live.Post("/v1/releases/none:activate", "{}", &status);
  CHECK(status == 404);
  live.Post("/v1/releases/r1:activate", R"({"max_metric_drop": 2})", &status);
  CHECK(status == 400);
}

TEST_CASE("A release whose feeds are empty is not activated, unless somebody says why it shall be") {
  LiveServer live;
  PrepareHollow(&live);
  int status = 0;
  json answer = live.Post("/v1/releases/hollow:activate", "{}", &status);
  CHECK(status == 400);
  CHECK_THAT(std::string(answer["error"]["message"]), Catch::Contains("warm_up: "));
  CHECK_THAT(std::string(answer["error"]["message"]), Catch::Contains("override_reason"));
  CHECK(ActiveOf(live) == "r1");
  answer = live.Post("/v1/releases/hollow:activate", R"({"override_reason": "searches only"})", &status);
  INFO(answer.dump());
  CHECK(status == 200);
  CHECK(ActiveOf(live) == "hollow");
  const auto scope = (*live.engine->OpenCollection({}, false))->scope();
  CHECK_THAT(live.engine->store().Activations(scope).activations().rbegin()->reason(),
             Catch::Contains("searches only"));
}

TEST_CASE("What the shadow rolled back is told at its activation") {
  LiveServer live;
  Prepare(&live);
  Create(live);
  int status = 0;
  live.Post("/v1/experiments/x:start", R"({"by": "ann", "shadow": true})", &status);
  REQUIRE(status == 200);
  live.Post("/v1/experiments/x:stop", R"({"by": "ann", "outcome": "ROLL_BACK", "reason": "too slow"})",
            &status);
  REQUIRE(status == 200);
  const json answer = live.Post("/v1/releases/r2:activate", "{}", &status);
  CHECK(status == 400);
  CHECK_THAT(std::string(answer["error"]["message"]),
             Catch::Contains("rolled it back in the shadow: too slow"));
}
