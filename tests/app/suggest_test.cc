#include "tests/app/program.h"

namespace waymark {
namespace {

using tests::kFilms;
using tests::Ran;
using tests::Sandbox;

std::vector<std::string> Texts(const nlohmann::json& answer) {
  std::vector<std::string> texts;
  for (const auto& suggestion : answer["suggestions"]) texts.push_back(suggestion["text"]);
  return texts;
}

TEST_CASE("suggest completes on a folder, as a table for people and one document for programs") {
  Sandbox sandbox;
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, kFilms).code == 0);
  const Ran table = sandbox.Run({"suggest", "sta", "--data", "d"});
  INFO(table.err);
  CHECK(table.code == 0);
  CHECK_THAT(table.out,
             Catch::Contains("Star Wars") && Catch::Contains("A Star Is Born") && Catch::Contains(" ms"));
  CHECK(Texts(sandbox.Json({"suggest", "sta", "--data", "d"})) ==
        std::vector<std::string>{"Star Wars", "A Star Is Born"});
  CHECK(Texts(sandbox.Json({"suggest", "s", "--data", "d", "--kind", "value"})) ==
        std::vector<std::string>{"Sci-Fi"});
  CHECK(Texts(sandbox.Json({"suggest", "sta", "--data", "d", "--filter", "year < 1960"})) ==
        std::vector<std::string>{"A Star Is Born"});
  CHECK(Texts(sandbox.Json({"suggest", "satr w", "--data", "d"})) == std::vector<std::string>{"Star Wars"});
  CHECK(Texts(sandbox.Json({"suggest", "--data", "d", "--limit", "3"})).size() == 3);
  CHECK_THAT(sandbox.Run({"suggest", "qqq", "--data", "d"}).out, Catch::Contains("no suggestions"));
  Ran ran = sandbox.Run({"suggest", "s", "--data", "d", "--limit", "51"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("limit: is 51; it takes 0 (for 10) to 50"));
  ran = sandbox.Run({"suggest", "s", "--data", "d", "--fields", "titel"});
  CHECK_THAT(ran.err, Catch::Contains("did you mean 'title'"));
  ran = sandbox.Run({"suggest", "s", "--data", "d", "--kind", "some"});
  CHECK(ran.code == 2);
  CHECK_THAT(ran.err, Catch::Contains("--kind"));
}

TEST_CASE("what people searched for is suggested, and what they did not find is listed") {
  Sandbox sandbox;
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, kFilms).code == 0);
  std::string events;
  for (const char* user : {"u1", "u2", "u3"}) {
    events += "{\"type\":\"search\",\"user_id\":\"" + std::string(user) + "\",\"query\":\"Monkeys\"}\n";
  }
  REQUIRE(sandbox.Run({"import", "events", "-", "--data", "d"}, events).code == 0);
  CHECK(Texts(sandbox.Json({"suggest", "mon", "--data", "d", "--kind", "query"})) ==
        std::vector<std::string>{"monkeys"});
  for (int i = 0; i < 2; ++i) REQUIRE(sandbox.Run({"search", "qqqq", "--data", "d"}).code == 0);
  REQUIRE(sandbox.Run({"search", "heat", "--data", "d"}).code == 0);
  const Ran table = sandbox.Run({"queries", "--data", "d"});
  CHECK(table.code == 0);
  CHECK_THAT(table.out, Catch::Contains("3 searches, 2 without hits") && Catch::Contains("qqqq"));
  const auto report = sandbox.Json({"queries", "--no-hits", "--data", "d"});
  CHECK(report["queries"][0]["count"] == "2");
  CHECK(sandbox.Json({"queries", "--slow", "--slow-ms", "0.001", "--data", "d"})["queries"].size() == 2);
  CHECK(sandbox.Json({"queries", "--few-hits", "--data", "d"})["queries"][0]["query"] == "heat");
  CHECK(sandbox.Run({"queries", "--slow", "--no-hits", "--data", "d"}).code == 2);
}

TEST_CASE("suggest and queries go through the server that has the folder open") {
  Sandbox sandbox;
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, kFilms).code == 0);
  auto server = sandbox.Start(
      {"serve", "--data", "d", "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0"});
  REQUIRE(server->WaitFor("admin  127.0.0.1:"));
  CHECK(Texts(sandbox.Json({"suggest", "sta", "--data", "d"})).size() == 2);
  REQUIRE(sandbox.Run({"search", "qqqq", "--data", "d"}).code == 0);
  CHECK(sandbox.Json({"queries", "--data", "d"})["queries"][0]["query"] == "qqqq");
  CHECK_THAT(sandbox.Run({"status", "--data", "d"}).out, Catch::Contains("suggested"));
  server->Signal(SIGTERM);
  CHECK(server->Wait().code == 0);
}

}  // namespace
}  // namespace waymark
