// `waymark federate` as people run it: one coordinator and three sites, each a process with a data folder of
// its own.
#include <fstream>
#include <sstream>

#include "tests/app/program.h"
#include "tests/federated/test_certificates.h"

namespace waymark {
namespace {

using Catch::Contains;
using tests::Ran;
using tests::Sandbox;
using tests::TestAuthority;

// A chain: after item i comes 7 i + 3 or 7 i + 8 of 40.
std::string Events(int site) {
  std::ostringstream lines;
  for (int user = 0; user < 60; ++user) {
    int item = (user * 13 + site * 5) % 40;
    for (int step = 0; step < 8; ++step) {
      lines << R"({"type":"view","user_id":"u)" << user << R"(","item_id":"m)" << item << R"(","time":)"
            << 1000000 + user * 1000 + step * 60 << "}\n";
      item = (item * 7 + 3 + 5 * ((user + step) % 2)) % 40;
    }
  }
  return lines.str();
}

std::vector<std::string> With(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::vector<std::string> Certificates(const TlsFiles& files) {
  return {"--ca", files.authority, "--cert", files.certificate, "--key", files.key};
}

TEST_CASE("Three sites train over TLS, each registers the retriever, and it serves") {
  Sandbox sandbox;
  TestAuthority authority(sandbox.Path("certificates"));
  std::string ids, items;
  for (int i = 0; i < 40; ++i) {
    ids += "m" + std::to_string(i) + "\n";
    items += "{\"id\":\"m" + std::to_string(i) + "\"}\n";
  }
  sandbox.Write("items.txt", ids);
  for (int s = 0; s < 3; ++s) {
    const std::string data = "d" + std::to_string(s);
    CHECK(sandbox.Run({"import", "items", "-", "--data", data}, items).code == 0);
    CHECK(sandbox.Run({"import", "events", "-", "--data", data}, Events(s)).code == 0);
  }
  const auto coordinate = With(
      {"federate", "coordinator", "--listen",  "127.0.0.1:0", "--state", "state", "--sites",           "3",
       "--rounds", "3",           "--buckets", "128",         "--width", "16",    "--rounds-an-epoch", "1",
       "--items",  "items.txt",   "--package", "package"},
      Certificates(authority.Make({.name = "coordinator", .role = TlsRole::kCoordinator})));
  auto coordinator = sandbox.Start(coordinate);
  REQUIRE(coordinator->WaitFor("listens on port "));
  const std::string said = coordinator->Output();
  const std::string port = std::to_string(std::stoi(said.substr(said.find("port ") + 5)));

  const auto site = [&](int s, const TlsFiles& files) {
    return With({"federate", "site", "--data", "d" + std::to_string(s), "--coordinator", "localhost:" + port,
                 "--threads", "1", "--patience", "60"},
                Certificates(files));
  };
  std::vector<std::unique_ptr<tests::Process>> sites;
  for (int s = 0; s < 3; ++s) {
    sites.push_back(sandbox.Start(site(s, authority.Make({.name = "site" + std::to_string(s)}))));
  }
  for (auto& running : sites) {
    const Ran ran = running->Wait();
    INFO(ran.err);
    CHECK(ran.code == 0);
    CHECK_THAT(ran.out, Contains("took part in 3 of 3 rounds") && Contains("is registered"));
    CHECK_THAT(ran.err, Contains("sent, round 3 of 3"));
  }
  const Ran ended = coordinator->Wait();
  INFO(ended.err);
  CHECK(ended.code == 0);
  CHECK_THAT(ended.out, Contains("3 rounds are done") && Contains("of 40 items lies in package"));
  CHECK_THAT(ended.err, Contains("\"event\":\"round_finished\""));

  // Each round moved the model: sites with a few hundred events are not lost in the sum. The first step of
  // the warm-up moves each number that has a gradient, some 40,000, by a hundredth of the rate .003: norm
  // .006.
  std::ifstream rounds(sandbox.Path("state/rounds.jsonl"));
  int lines = 0;
  for (std::string line; std::getline(rounds, line); ++lines) {
    INFO(line);
    CHECK(nlohmann::json::parse(line)["update_norm"] > .005);
  }
  CHECK(lines == 3);

  // The coordinator's package and the site's own serve alike.
  const std::string version = sandbox.Json({"model", "list", "--data", "d0"})["models"][0]["version"];
  CHECK(sandbox.Run({"release", "create", "--retriever", version, "--activate", "--data", "d0"}).code == 0);
  const auto feed = sandbox.Json({"recommend", "--data", "d0", "--user", "u1"});
  REQUIRE(feed["results"].size() > 0);
  CHECK(sandbox.Run({"import", "items", "-", "--data", "other"}, items).code == 0);
  CHECK(sandbox.Run({"import", "events", "-", "--data", "other"}, Events(0)).code == 0);
  CHECK(sandbox.Run({"model", "import", "package", "--data", "other"}).code == 0);
  CHECK(sandbox.Run({"release", "create", "--retriever", version, "--activate", "--data", "other"}).code ==
        0);
  const auto other = sandbox.Json({"recommend", "--data", "other", "--user", "u1"});
  REQUIRE(other["results"].size() > 0);
  CHECK(other["results"][0]["item"]["id"] == feed["results"][0]["item"]["id"]);

  // A federation that is done says so again.
  auto again =
      sandbox.Run(With({"federate", "coordinator", "--listen", "127.0.0.1:0", "--state", "state", "--sites",
                        "3", "--rounds", "3", "--buckets", "128", "--width", "16", "--rounds-an-epoch", "1"},
                       Certificates({authority.file(), sandbox.Path("certificates/coordinator.pem"),
                                     sandbox.Path("certificates/coordinator.key")})));
  CHECK(again.code == 0);
  CHECK_THAT(again.out, Contains("3 rounds are done"));
}

TEST_CASE("What is wrong with certificates, addresses and options is one message, and a failure") {
  Sandbox sandbox;
  TestAuthority authority(sandbox.Path("certificates"));
  CHECK(sandbox.Run({"import", "events", "-", "--data", "d"}, Events(0)).code == 0);
  const auto site = [&](const TlsFiles& files) {
    return sandbox.Run(
        With({"federate", "site", "--data", "d", "--coordinator", "127.0.0.1:1", "--patience", "1"},
             Certificates(files)));
  };
  const Ran expired = site(authority.Make({.name = "old", .until = -absl::Minutes(3)}));
  CHECK(expired.code == 1);
  CHECK_THAT(expired.err, Contains("old.pem") && Contains("expired at"));
  const Ran nobody = site(authority.Make({.name = "north"}));
  CHECK(nobody.code == 1);
  CHECK_THAT(nobody.err, Contains("no coordinator answers at 127.0.0.1:1"));
  const auto coordinator = authority.Make({.name = "c", .role = TlsRole::kCoordinator});
  TestAuthority others(sandbox.Path("others"));
  auto foreign = sandbox.Start(
      With({"federate", "coordinator", "--listen", "127.0.0.1:0", "--state", "f", "--sites", "3"},
           Certificates(others.Make({.name = "c", .role = TlsRole::kCoordinator}))));
  REQUIRE(foreign->WaitFor("listens on port "));
  const std::string where = foreign->Output();
  const Ran refused = sandbox.Run(With(
      {"federate", "site", "--data", "d", "--coordinator",
       "localhost:" + std::to_string(std::stoi(where.substr(where.find("port ") + 5))), "--patience", "5"},
      Certificates(authority.Make({.name = "south"}))));
  CHECK(refused.code == 1);
  CHECK_THAT(refused.err, Contains("the certificate of the coordinator at localhost:") &&
                              Contains("is refused") && !Contains("Handshake"));
  const Ran half = sandbox.Run(
      With({"federate", "coordinator", "--state", "s", "--package", "p"}, Certificates(coordinator)));
  CHECK(half.code == 2);
  CHECK_THAT(half.err, Contains("--items FILE and --package FOLDER go together"));
  const Ran buckets = sandbox.Run(
      With({"federate", "coordinator", "--state", "s", "--listen", "127.0.0.1:0", "--buckets", "3"},
           Certificates(coordinator)));
  CHECK(buckets.code == 1);
  CHECK_THAT(buckets.err, Contains("buckets is 3"));
}

}  // namespace
}  // namespace waymark
