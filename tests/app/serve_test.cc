#include "tests/app/program.h"

namespace waymark {
namespace {

using tests::kFilms;
using tests::Ran;
using tests::Sandbox;

const std::vector<std::string> kServe = {"serve",  "--data",      "d",       "--grpc",     "127.0.0.1:0",
                                         "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0"};

TEST_CASE("commands work through the server that has the folder open") {
  Sandbox sandbox;
  auto server = sandbox.Start(kServe);
  REQUIRE(server->WaitFor("admin  127.0.0.1:"));
  CHECK(std::filesystem::exists(sandbox.Path("d/server.json")));

  sandbox.Write("films.jsonl", kFilms);
  CHECK(sandbox.Json({"import", "items", "films.jsonl", "--data", "d"})["written"] == 5);
  CHECK(sandbox.Run({"import", "users", "-", "--data", "d"}, "{\"id\":\"u\",\"age\":30}\n").code == 0);
  CHECK(sandbox
            .Run({"import", "events", "-", "--data", "d"},
                 "{\"type\":\"view\",\"user_id\":\"u\",\"item_id\":\"1\",\"time\":1}\n{\"type\":\"view\"}\n")
            .code == 0);
  const auto status = sandbox.Json({"status", "--data", "d"});
  CHECK(status["collections"][0]["items"] == "5");
  CHECK(status["collections"][0]["events"] == "1");
  nlohmann::json answer;
  for (int i = 0; i < 100 && answer["results"].empty(); ++i) {  // the index follows within a second
    answer = sandbox.Json({"search", "star wars", "--data", "d"});
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  REQUIRE(answer["results"].size() == 2);
  CHECK(answer["results"][0]["item"]["id"] == "1");
  const auto feed = sandbox.Json({"recommend", "--data", "d", "--user", "u"});
  for (const auto& result : feed["results"]) CHECK(result["item"]["id"] != "1");

  CHECK(sandbox.Run({"export", "items", "-", "--data", "d"}).out.find("\"title\":\"Heat\"") !=
        std::string::npos);
  CHECK(sandbox.Run({"export", "users", "-", "--data", "d"}).out == "{\"id\":\"u\",\"age\":30}\n");
  CHECK_THAT(sandbox.Run({"export", "events", "-", "--data", "d"}).out, Catch::Contains("\"user_id\":\"u\""));

  // A second server on the same folder is refused, by the number of the first.
  const Ran second = sandbox.Run(kServe);
  CHECK(second.code == 1);
  CHECK_FALSE(second.err.empty());

  server->Signal(SIGTERM);
  const Ran ended = server->Wait();
  INFO(ended.err);
  CHECK(ended.code == 0);
  CHECK_FALSE(std::filesystem::exists(sandbox.Path("d/server.json")));
  CHECK(sandbox.Json({"search", "star wars", "--data", "d"})["results"].size() == 2);
}

TEST_CASE("a server elsewhere is reached by its address") {
  Sandbox sandbox;
  auto server = sandbox.Start(kServe);
  REQUIRE(server->WaitFor("admin  127.0.0.1:"));
  const std::string out = server->Output();
  const size_t grpc = out.find("127.0.0.1:");
  const std::string address = out.substr(grpc, out.find('\n', grpc) - grpc);
  CHECK(sandbox.Run({"import", "items", "-", "--server", address}, kFilms).code == 0);
  CHECK_THAT(sandbox.Run({"export", "items", "-", "--server", address}).out, Catch::Contains("Toy Story"));
  const Ran status = sandbox.Run({"status", "--server", address});
  CHECK(status.code == 1);
  CHECK_THAT(status.err, Catch::Contains("admin port"));
  const Ran taken = sandbox.Run(
      {"serve", "--data", "other", "--grpc", address, "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0"});
  CHECK(taken.code == 1);
  CHECK_THAT(taken.err, Catch::Contains(address));
  server->Signal(SIGINT);
  CHECK(server->Wait().code == 0);
}

TEST_CASE("an address that other machines reach needs --insecure") {
  Sandbox sandbox;
  const Ran ran = sandbox.Run({"serve", "--data", "d", "--grpc", "0.0.0.0:0"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("--insecure"));
}

TEST_CASE("a server that makes something anew serves once it has, and all of its log is JSON lines") {
  Sandbox sandbox;
  sandbox.Write("films.jsonl", kFilms);
  REQUIRE(sandbox.Run({"import", "items", "films.jsonl", "--data", "d"}).code == 0);
  sandbox.Write("d/catalog/1-1/columns", "damaged");
  std::filesystem::remove_all(sandbox.Path("d/index"));
  auto server = sandbox.Start(kServe);
  REQUIRE(server->WaitFor("admin  127.0.0.1:"));
  CHECK(sandbox.Json({"search", "star", "--data", "d"})["results"].size() == 2);
  server->Signal(SIGTERM);
  const Ran ended = server->Wait();
  CHECK(ended.code == 0);
  std::stringstream lines(ended.err);
  int messages = 0;
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    const auto json = nlohmann::json::parse(line, nullptr, false);
    REQUIRE(json.is_object());
    CHECK(json.contains("time"));
    messages += json["event"] == "message" ? 1 : 0;
  }
  CHECK(messages > 0);
}

}  // namespace
}  // namespace waymark
