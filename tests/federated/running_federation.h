// Coordinator and sites as they run, on this machine: gRPC over TLS, sites on threads of their own.
#pragma once
#include <deque>
#include <mutex>
#include <thread>

#include "tests/federated/federation_fixture.h"
#include "tests/federated/test_certificates.h"
#include "tests/support/catch.h"
#include "training/federated/rpc/coordinator_server.h"
#include "training/federated/rpc/site_client.h"

namespace waymark::tests {

struct Network {
  Network() : authority(folder / "ca") {
    options.plan = SmallPlan();
    options.state_folder = folder / "state";
    options.poll_interval = absl::Milliseconds(20);
    // Rounds begin as soon as the expected sites are there; a busy machine is left its time.
    options.gather = options.stage_deadline = options.training_deadline = absl::Minutes(1);
    options.expected_sites = 4;
  }
  void Start() {
    server.reset();
    coordinator.reset();
    auto opened = Coordinator::Open(options);
    REQUIRE(opened.ok());
    coordinator = *std::move(opened);
    const TlsIdentity identity = authority.Unchecked(coordinator_certificate);
    auto started = CoordinatorServer::Start(
        coordinator.get(), {"127.0.0.1:" + std::to_string(port), identity, absl::Seconds(2)});
    INFO(started.status().ToString());
    REQUIRE(started.ok());
    server = *std::move(started);
    port = server->port();
  }
  SiteOptions SiteOf(const std::string& name) {
    SiteOptions site;
    site.coordinator = "127.0.0.1:" + std::to_string(port);
    site.identity = authority.Unchecked({.name = name});
    site.patience = absl::Minutes(1);
    return site;
  }
  static MakeTrainer Trainer(const std::string& name, int64_t events) {
    return [name, events](const federated::Plan&) -> absl::StatusOr<std::unique_ptr<SiteTrainer>> {
      return std::make_unique<KnownTrainer>(name, events);
    };
  }

  FederationFolder folder;
  TestAuthority authority;
  CertificateWish coordinator_certificate{.name = "coordinator", .role = TlsRole::kCoordinator};
  CoordinatorOptions options;
  std::unique_ptr<Coordinator> coordinator;
  std::unique_ptr<CoordinatorServer> server;
  int port = 0;
};

// Sites on threads of their own.
struct RunningSites {
  void Add(SiteOptions options, MakeTrainer trainer) {
    const size_t place = results.size();
    results.emplace_back(absl::UnknownError("did not end"));
    stops.emplace_back();
    threads.emplace_back([this, place, options = std::move(options), trainer = std::move(trainer)] {
      auto result = RunSite(options, trainer, {}, stops[place].get_token());
      std::lock_guard lock(mutex);
      results[place] = std::move(result);
    });
  }
  void Join() {
    for (std::thread& thread : threads) thread.join();
    threads.clear();
  }
  ~RunningSites() {
    for (auto& stop : stops) stop.request_stop();
    Join();
  }
  std::mutex mutex;
  std::deque<absl::StatusOr<SiteResult>> results;
  std::deque<std::stop_source> stops;
  std::vector<std::thread> threads;
};

inline std::vector<float> ExpectedAfter(const std::vector<float>& start, int rounds,
                                        const std::vector<std::pair<std::string, double>>& sites) {
  std::vector<double> model(start.begin(), start.end());
  double weight = 0;
  for (const auto& [name, own] : sites) weight += own;
  for (int round = 1; round <= rounds; ++round) {
    for (const auto& [name, own] : sites) {
      const auto moved = KnownMove(name, round, model.size());
      for (size_t i = 0; i < model.size(); ++i) model[i] += own / weight * moved[i];
    }
  }
  return {model.begin(), model.end()};
}

inline double LargestDifference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(static_cast<double>(a[i]) - b[i]));
  return worst;
}

}  // namespace waymark::tests
