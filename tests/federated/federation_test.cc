// Coordinator and sites as they run: gRPC over TLS on this machine.
#include <grpcpp/grpcpp.h>

#include <mutex>
#include <thread>

#include "tests/federated/federation_fixture.h"
#include "tests/federated/test_certificates.h"
#include "tests/support/catch.h"
#include "training/federated/rpc/coordinator_server.h"
#include "training/federated/rpc/site_client.h"
#include "waymark/federated/federation.grpc.pb.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

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

std::vector<float> ExpectedAfter(const std::vector<float>& start, int rounds,
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

double LargestDifference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(static_cast<double>(a[i]) - b[i]));
  return worst;
}

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

// Stands where the coordinator stands and writes down what comes over the wire.
class TappedFederation final : public federated::Federation::Service {
 public:
  explicit TappedFederation(Coordinator* coordinator) : coordinator_(coordinator) {}
  using Context = grpc::ServerContext;
  grpc::Status Join(Context* c, const federated::JoinRequest* q, federated::JoinResponse* a) override {
    auto answer = coordinator_->Join(SiteOf(c), *q);
    if (answer.ok()) *a = *answer;
    return Of(answer.status());
  }
  grpc::Status Poll(Context* c, const federated::PollRequest* q, federated::PollResponse* a) override {
    auto answer = coordinator_->Poll(SiteOf(c), *q);
    if (answer.ok()) *a = *answer;
    return Of(answer.status());
  }
  grpc::Status AdvertiseKeys(Context* c, const federated::AdvertiseKeysRequest* q,
                             federated::Accepted*) override {
    federated::AdvertiseKeysRequest request = *q;
    if (forge) {  // keys of the coordinator's own in the place of the site's
      const KeyPair own = *MakeKeyPair();
      if (SiteOf(c) == "site1") request.mutable_keys()->set_masking_key(std::string(BytesOf(own.open)));
    }
    return Of(coordinator_->Advertise(SiteOf(c), request));
  }
  grpc::Status ShareKeys(Context* c, const federated::ShareKeysRequest* q, federated::Accepted*) override {
    return Of(coordinator_->Share(SiteOf(c), *q));
  }
  grpc::Status RevealShares(Context* c, const federated::RevealSharesRequest* q,
                            federated::Accepted*) override {
    return Of(coordinator_->Reveal(SiteOf(c), *q));
  }
  grpc::Status Withdraw(Context* c, const federated::WithdrawRequest* q, federated::Accepted*) override {
    std::lock_guard lock(mutex);
    reasons.push_back(q->reason());
    return Of(coordinator_->Withdraw(SiteOf(c), *q));
  }
  grpc::Status GetModel(Context* c, const federated::GetModelRequest* q,
                        grpc::ServerWriter<federated::ModelChunk>* writer) override {
    auto model = coordinator_->Model(SiteOf(c), *q);
    if (!model.ok()) return Of(model.status());
    federated::ModelChunk chunk;
    chunk.set_data((*model)->data(), (*model)->size() * sizeof(float));
    writer->Write(chunk);
    return grpc::Status::OK;
  }
  grpc::Status SubmitUpdate(Context* c, grpc::ServerReader<federated::UpdateChunk>* reader,
                            federated::Accepted*) override {
    federated::UpdateChunk chunk;
    federated::RoundKey key;
    std::string bytes;
    while (reader->Read(&chunk)) {
      if (chunk.has_key()) key = chunk.key();
      bytes += chunk.data();
    }
    std::vector<uint32_t> words(bytes.size() / sizeof(uint32_t));
    std::memcpy(words.data(), bytes.data(), words.size() * sizeof(uint32_t));
    {
      std::lock_guard lock(mutex);
      received[SiteOf(c)][key.round()] = words;
    }
    return Of(coordinator_->Submit(SiteOf(c), key, words));
  }

  bool forge = false;
  std::mutex mutex;
  std::map<std::string, std::map<int, std::vector<uint32_t>>> received;
  std::vector<std::string> reasons;

 private:
  static std::string SiteOf(Context* c) {
    const auto names = c->auth_context()->FindPropertyValues("x509_common_name");
    return std::string(names[0].data(), names[0].size());
  }
  static grpc::Status Of(const absl::Status& status) {
    if (status.ok()) return grpc::Status::OK;
    return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message())};
  }
  Coordinator* coordinator_;
};

struct Tapped : Network {
  Tapped() {
    coordinator = *Coordinator::Open(options);
    service = std::make_unique<TappedFederation>(coordinator.get());
    const TlsIdentity identity = authority.Unchecked(coordinator_certificate);
    grpc::SslServerCredentialsOptions tls(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    tls.pem_root_certs = identity.authority_pem;
    tls.pem_key_cert_pairs.push_back({identity.key_pem, identity.certificate_pem});
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::SslServerCredentials(tls), &port);
    builder.RegisterService(service.get());
    listening = builder.BuildAndStart();
    ticker = std::jthread([this](std::stop_token stop) {
      while (!stop.stop_requested()) {
        coordinator->Tick().IgnoreError();
        absl::SleepFor(absl::Milliseconds(20));
      }
    });
  }
  std::unique_ptr<TappedFederation> service;
  std::unique_ptr<grpc::Server> listening;
  std::jthread ticker;
};

TEST_CASE(
    "Over the wire no site's update can be read, while the sum of what came is the sum of the updates") {
  Tapped net;
  RunningSites sites;
  std::vector<std::pair<std::string, double>> weights;
  for (int s = 0; s < 4; ++s) {
    const std::string name = "site" + std::to_string(s);
    weights.push_back({name, 250});
    sites.Add(net.SiteOf(name), Network::Trainer(name, 250));
  }
  sites.Join();
  const std::vector<float> start = InitialModel(net.options.plan, *ExchangedLayout::Of(net.options.plan));
  REQUIRE(net.service->received.size() == 4);
  for (const auto& [name, rounds] : net.service->received) {
    REQUIRE(rounds.size() == 2);
    for (const auto& [round, words] : rounds) {
      LocalUpdate update;
      update.moved = KnownMove(name, round, start.size());
      update.events = 250;
      update.loss = 2;
      update.users = 10;
      update.ndcg10 = .25;
      const auto plain = EncodeUpdate(net.options.plan, &update);
      REQUIRE(plain.ok());
      REQUIRE(words.size() == plain->size());
      size_t same = 0, high = 0;
      for (size_t i = 0; i < words.size(); ++i) {
        same += words[i] == (*plain)[i];
        high += words[i] >> 31;
      }
      CHECK(same == 0);
      // Uniform: 6 deviations of as many coins.
      const double n = static_cast<double>(words.size());
      CHECK(std::abs(static_cast<double>(high) - n / 2) < 3 * std::sqrt(n));
    }
  }
  for (const auto& result : sites.results) {
    REQUIRE(result.ok());
    CHECK(LargestDifference(result->model, ExpectedAfter(start, 2, weights)) < 3e-6);
  }
}

TEST_CASE("A coordinator that puts its own keys in a site's place is found out before anything is sent") {
  Tapped net;
  net.service->forge = true;
  RunningSites sites;
  for (int s = 0; s < 4; ++s) {
    const std::string name = "site" + std::to_string(s);
    sites.Add(net.SiteOf(name), Network::Trainer(name, 250));
  }
  sites.Join();
  for (const auto& result : sites.results) {
    CHECK(absl::IsPermissionDenied(result.status()));
    CHECK_THAT(std::string(result.status().message()), Contains("'site1'") && Contains("not that site's"));
  }
  CHECK(net.service->received.empty());
}

// Fails once it has been asked for round 2.
class FailingTrainer : public KnownTrainer {
 public:
  using KnownTrainer::KnownTrainer;
  absl::StatusOr<LocalUpdate> Train(absl::Span<const float> model, int round, std::stop_token stop) override {
    auto update = KnownTrainer::Train(model, round, stop);
    if (round == 2) update->moved[17] = std::numeric_limits<float>::quiet_NaN();
    return update;
  }
};

TEST_CASE("A site whose update is not finite withdraws with the reason, and the round goes on without it") {
  Tapped net;
  RunningSites sites;
  for (int s = 0; s < 3; ++s) {
    const std::string name = "site" + std::to_string(s);
    sites.Add(net.SiteOf(name), Network::Trainer(name, 250));
  }
  sites.Add(net.SiteOf("site3"), [](const federated::Plan&) -> absl::StatusOr<std::unique_ptr<SiteTrainer>> {
    return std::make_unique<FailingTrainer>("site3", 250);
  });
  sites.Join();
  CHECK_THAT(std::string(sites.results[3].status().message()), Contains("not finite (number 17"));
  REQUIRE(net.service->reasons.size() == 1);
  CHECK_THAT(net.service->reasons[0], Contains("not finite"));
  const std::vector<float> start = InitialModel(net.options.plan, *ExchangedLayout::Of(net.options.plan));
  std::vector<float> expected =
      ExpectedAfter(start, 1, {{"site0", 1}, {"site1", 1}, {"site2", 1}, {"site3", 1}});
  for (const char* name : {"site0", "site1", "site2"}) {
    const auto moved = KnownMove(name, 2, expected.size());
    for (size_t i = 0; i < expected.size(); ++i) expected[i] += moved[i] / 3;
  }
  for (int s = 0; s < 3; ++s) {
    REQUIRE(sites.results[s].ok());
    CHECK(LargestDifference(sites.results[s]->model, expected) < 3e-6);
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
