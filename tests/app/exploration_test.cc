// From a feed that explores to what another policy would have earned, as people run it.
#include "tests/app/program.h"

using namespace waymark::tests;

TEST_CASE("decisions of feeds that explored are exported with what they earned, and evaluated") {
  Sandbox sandbox;
  std::string items, events;
  for (int i = 0; i < 12; ++i) items += "{\"id\":\"m" + std::to_string(i) + "\"}\n";
  for (int user = 0; user < 20; ++user) {
    for (int i = 0; i < 1 + user % 6; ++i) {
      events += R"({"type":"view","user_id":"u)" + std::to_string(user) + R"(","item_id":"m)" +
                std::to_string(i) + R"(","time":1700000000})" + "\n";
    }
  }
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, items).code == 0);
  REQUIRE(sandbox.Run({"import", "events", "-", "--data", "d"}, events).code == 0);
  std::string clicks;
  int rewarded = 0, places = 0;
  double ips = 0;
  for (int i = 0; i < 6; ++i) {
    const auto feed =
        sandbox.Json({"recommend", "--data", "d", "--user", "new", "--explore", ".5", "--limit", "4"});
    REQUIRE(feed["results"].size() == 4);
    for (const auto& result : feed["results"]) {
      ++places;
      // The reader clicks m0 wherever it is shown, by a clock that is late.
      if (result["item"]["id"] != "m0") continue;
      ++rewarded;
      // Above a half it is what would stand there were nothing drawn.
      const double propensity = result["exploration"]["propensity"];
      if (propensity > .5) ips += 1 / propensity;
      clicks += R"({"type":"click","user_id":"new","item_id":"m0","time":1700000000,"request_id":")" +
                feed["request_id"].get<std::string>() + "\"}\n";
    }
  }
  REQUIRE(rewarded > 0);
  REQUIRE(sandbox.Run({"import", "events", "-", "--data", "d"}, clicks).code == 0);
  // A plain feed is no decision.
  REQUIRE(sandbox.Run({"recommend", "--data", "d", "--user", "new"}).code == 0);
  const Ran today = sandbox.Run({"export", "decisions", "none.jsonl", "--data", "d"});
  CHECK(today.code == 0);
  CHECK(sandbox.Read("none.jsonl").empty());
  CHECK_THAT(today.err, Catch::Contains("6 of 6 lists are left out, whose --within is not over"));
  REQUIRE(sandbox.Run({"export", "decisions", "log.jsonl", "--within", ".00001", "--data", "d"}).code == 0);
  const std::string log = sandbox.Read("log.jsonl");
  CHECK(std::count(log.begin(), log.end(), '\n') == places);
  const auto first = nlohmann::json::parse(log.substr(0, log.find('\n')));
  CHECK(first["place"] == 0);
  CHECK(first["reward"] == (first["item_id"] == "m0" ? 1 : 0));
  const auto answer = sandbox.Json({"experiment", "offpolicy", "--file", "log.jsonl", "--reward", "reward",
                                    "--propensity", "propensity", "--policy", "as_ranked"});
  CHECK(answer["units"] == std::to_string(places));
  CHECK(answer["logged_value"].get<double>() == Approx(double(rewarded) / places));
  CHECK(answer["estimates"][0]["value"].get<double>() == Approx(ips / places).epsilon(1e-5));
  CHECK(sandbox.Run({"export", "decisions", "-", "--reward", "smile", "--data", "d"}).code == 1);
  CHECK(sandbox.Run({"export", "decisions", "-", "--within", "0", "--data", "d"}).code == 2);
}
