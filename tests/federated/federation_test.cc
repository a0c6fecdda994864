// Coordinator and sites as they run: gRPC over TLS on this machine.
#include "tests/federated/running_federation.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

TEST_CASE("Four sites over TLS end with the same model, the mean of their updates") {
  Network net;
  net.Start();
  const std::vector<float> start = InitialModel(net.options.plan, *ExchangedLayout::Of(net.options.plan));
  RunningSites sites;
  std::vector<std::pair<std::string, double>> weights;
  for (int s = 0; s < 4; ++s) {
    const std::string name = "site" + std::to_string(s);
    weights.push_back({name, 100.0 * (s + 1)});
    sites.Add(net.SiteOf(name), Network::Trainer(name, 100 * (s + 1)));
  }
  CHECK(net.server->WaitUntilFinished({}).ok());
  sites.Join();
  const auto expected = ExpectedAfter(start, 2, weights);
  for (const auto& result : sites.results) {
    INFO(result.status().ToString());
    REQUIRE(result.ok());
    CHECK(result->rounds == 2);
    CHECK(result->rounds_taken_part == 2);
    CHECK(LargestDifference(result->model, expected) < 3e-6);
  }
}

TEST_CASE("Sites outlive a coordinator that is stopped and started again, and it ends where it would have") {
  Network net;
  net.options.plan.set_rounds(6);
  net.Start();
  const std::vector<float> start = InitialModel(net.options.plan, *ExchangedLayout::Of(net.options.plan));
  RunningSites sites;
  std::vector<std::pair<std::string, double>> weights;
  for (int s = 0; s < 4; ++s) {
    const std::string name = "site" + std::to_string(s);
    weights.push_back({name, 100.0});
    sites.Add(net.SiteOf(name), Network::Trainer(name, 100));
  }
  while (net.coordinator->finished_rounds() < 2) absl::SleepFor(absl::Milliseconds(5));
  net.Start();
  CHECK(net.coordinator->finished_rounds() >= 2);
  CHECK(net.server->WaitUntilFinished({}).ok());
  sites.Join();
  for (const auto& result : sites.results) {
    INFO(result.status().ToString());
    REQUIRE(result.ok());
    CHECK(LargestDifference(result->model, ExpectedAfter(start, 6, weights)) < 2e-5);
  }
}

TEST_CASE("A site takes no part in rounds of fewer sites than it asks for") {
  Network net;
  net.options.expected_sites = 3;
  net.options.stage_deadline = absl::Milliseconds(300);
  net.Start();
  RunningSites sites;
  for (int s = 0; s < 3; ++s) {
    const std::string name = "site" + std::to_string(s);
    SiteOptions options = net.SiteOf(name);
    options.fewest_sites = 4;
    sites.Add(options, Network::Trainer(name, 100));
  }
  absl::SleepFor(absl::Seconds(2));
  CHECK(net.coordinator->finished_rounds() == 0);
}

TEST_CASE("Nobody at the address, expired and foreign certificates give one clear message") {
  Network net;
  const auto ends = [&](SiteOptions site) {
    site.patience = absl::Seconds(1);
    return RunSite(site, Network::Trainer("n", 1), {}, {}).status();
  };
  SiteOptions site = net.SiteOf("north");
  site.coordinator = "127.0.0.1:1";
  const absl::Status nobody = ends(site);
  CHECK(absl::IsUnavailable(nobody));
  CHECK_THAT(std::string(nobody.message()), Contains("no coordinator answers at 127.0.0.1:1"));
  site.coordinator = "nothing";
  CHECK_THAT(std::string(ends(site).message()), Contains("not HOST:PORT"));

  net.Start();
  TestAuthority foreign(net.folder / "foreign");
  site = net.SiteOf("north");
  site.identity = net.authority.Unchecked({.name = "late", .until = -absl::Minutes(1)});
  const absl::Status expired = ends(site);
  CHECK(absl::IsUnauthenticated(expired));
  CHECK_THAT(std::string(expired.message()),
             Contains("refuses the certificate of 'late'") && Contains("expired"));
  site.identity = foreign.Unchecked({.name = "spy"});
  site.identity.authority_pem = net.SiteOf("north").identity.authority_pem;
  CHECK_THAT(std::string(ends(site).message()), Contains("refuses the certificate of 'spy'"));
  site = net.SiteOf("north");
  site.identity.authority_pem = foreign.Unchecked({.name = "x"}).authority_pem;
  CHECK_THAT(std::string(ends(site).message()), Contains("the certificate of the coordinator at"));

  net.coordinator_certificate.until = -absl::Minutes(1);
  net.Start();
  const absl::Status old = ends(net.SiteOf("north"));
  CHECK(absl::IsUnauthenticated(old));
  CHECK_THAT(std::string(old.message()),
             Contains("the certificate of the coordinator at") && Contains("has expired"));
}

}  // namespace
}  // namespace waymark
