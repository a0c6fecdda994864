// What goes over the wire between sites and coordinator, read and forged where the coordinator stands.
#include <grpcpp/grpcpp.h>

#include "tests/federated/running_federation.h"
#include "waymark/federated/federation.grpc.pb.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

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
    std::vector<uint64_t> words(bytes.size() / sizeof(uint64_t));
    std::memcpy(words.data(), bytes.data(), words.size() * sizeof(uint64_t));
    {
      std::lock_guard lock(mutex);
      received[SiteOf(c)][key.round()] = words;
    }
    return Of(coordinator_->Submit(SiteOf(c), key, words));
  }

  bool forge = false;
  std::mutex mutex;
  std::map<std::string, std::map<int, std::vector<uint64_t>>> received;
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
        high += words[i] >> 63;
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

}  // namespace
}  // namespace waymark
