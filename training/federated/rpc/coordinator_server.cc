#include "training/federated/rpc/coordinator_server.h"

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "training/federated/rpc/status_words.h"
#include "waymark/federated/federation.grpc.pb.h"

namespace waymark {
namespace {

constexpr size_t kChunk = 1 << 20;        // bytes of a message that carries numbers
constexpr int kLargestMessage = 4 << 20;  // keys and shares of 255 sites are far below
constexpr int kMostThreads = 64;          // of calls at once
constexpr absl::Duration kTick = absl::Milliseconds(20);

class FederationService final : public federated::Federation::Service {
 public:
  explicit FederationService(Coordinator* coordinator) : coordinator_(coordinator) {}

  grpc::Status Join(grpc::ServerContext* context, const federated::JoinRequest* request,
                    federated::JoinResponse* response) override {
    return Answer(
        context, [&](const std::string& site) { return coordinator_->Join(site, *request); }, response);
  }
  grpc::Status Poll(grpc::ServerContext* context, const federated::PollRequest* request,
                    federated::PollResponse* response) override {
    return Answer(
        context, [&](const std::string& site) { return coordinator_->Poll(site, *request); }, response);
  }
  grpc::Status AdvertiseKeys(grpc::ServerContext* context, const federated::AdvertiseKeysRequest* request,
                             federated::Accepted*) override {
    return Take(context, [&](const std::string& site) { return coordinator_->Advertise(site, *request); });
  }
  grpc::Status ShareKeys(grpc::ServerContext* context, const federated::ShareKeysRequest* request,
                         federated::Accepted*) override {
    return Take(context, [&](const std::string& site) { return coordinator_->Share(site, *request); });
  }
  grpc::Status RevealShares(grpc::ServerContext* context, const federated::RevealSharesRequest* request,
                            federated::Accepted*) override {
    return Take(context, [&](const std::string& site) { return coordinator_->Reveal(site, *request); });
  }
  grpc::Status Withdraw(grpc::ServerContext* context, const federated::WithdrawRequest* request,
                        federated::Accepted*) override {
    return Take(context, [&](const std::string& site) { return coordinator_->Withdraw(site, *request); });
  }

  grpc::Status GetModel(grpc::ServerContext* context, const federated::GetModelRequest* request,
                        grpc::ServerWriter<federated::ModelChunk>* writer) override {
    return Take(context, [&](const std::string& site) -> absl::Status {
      auto model = coordinator_->Model(site, *request);
      if (!model.ok()) return model.status();
      const char* bytes = reinterpret_cast<const char*>((*model)->data());
      const size_t size = (*model)->size() * sizeof(float);
      federated::ModelChunk chunk;
      for (size_t at = 0; at < size; at += kChunk) {
        chunk.set_data(bytes + at, std::min(kChunk, size - at));
        if (!writer->Write(chunk)) return absl::CancelledError("the site went away");
      }
      if (coordinator_->Finished()) {
        std::lock_guard lock(mutex_);
        served_.insert(site);
      }
      return absl::OkStatus();
    });
  }

  grpc::Status SubmitUpdate(grpc::ServerContext* context, grpc::ServerReader<federated::UpdateChunk>* reader,
                            federated::Accepted*) override {
    return Take(context, [&](const std::string& site) -> absl::Status {
      federated::UpdateChunk chunk;
      if (!reader->Read(&chunk) || !chunk.has_key()) {
        return absl::InvalidArgumentError("an update begins with the key of its round");
      }
      const federated::RoundKey key = chunk.key();
      auto fits = coordinator_->CheckUpdate(site, key, chunk.numbers());
      if (!fits.ok()) return fits;  // nothing of it is read
      const size_t words = coordinator_->update_words();
      std::vector<uint64_t> masked(words);
      char* bytes = reinterpret_cast<char*>(masked.data());
      size_t filled = 0;
      do {
        if (chunk.data().size() > words * sizeof(uint64_t) - filled) {
          return absl::InvalidArgumentError(absl::StrCat(
              "the update of site '", site, "' is longer than the ", words, " numbers it announced"));
        }
        std::memcpy(bytes + filled, chunk.data().data(), chunk.data().size());
        filled += chunk.data().size();
      } while (reader->Read(&chunk));
      if (filled != words * sizeof(uint64_t)) {
        return absl::InvalidArgumentError(
            absl::StrCat("the update of site '", site, "' broke off after ", filled, " bytes"));
      }
      return coordinator_->Submit(site, key, masked);
    });
  }

  size_t served() const {
    std::lock_guard lock(mutex_);
    return served_.size();
  }

 private:
  static std::string SiteOf(grpc::ServerContext* context) {
    const auto names = context->auth_context()->FindPropertyValues("x509_common_name");
    return names.empty() ? "" : std::string(names[0].data(), names[0].size());
  }
  template <class Call>
  grpc::Status Take(grpc::ServerContext* context, const Call& call) {
    const std::string site = SiteOf(context);
    if (site.empty()) {
      return ToWire(absl::UnauthenticatedError("the certificate has no common name, which names the site"));
    }
    return ToWire(call(site));
  }
  template <class Call, class Response>
  grpc::Status Answer(grpc::ServerContext* context, const Call& call, Response* response) {
    return Take(context, [&](const std::string& site) -> absl::Status {
      auto answer = call(site);
      if (answer.ok()) *response = *std::move(answer);
      return answer.status();
    });
  }

  Coordinator* coordinator_;
  mutable std::mutex mutex_;
  std::set<std::string> served_;  // sites that have the last model
};

class GrpcCoordinatorServer : public CoordinatorServer {
 public:
  GrpcCoordinatorServer(Coordinator* coordinator, const CoordinatorServerOptions& options)
      : coordinator_(coordinator), options_(options), service_(coordinator) {}

  ~GrpcCoordinatorServer() override {
    ticker_.request_stop();
    if (ticker_.joinable()) ticker_.join();
    if (server_) server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(2));
  }

  absl::Status Listen() {
    grpc::SslServerCredentialsOptions tls(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    tls.pem_root_certs = options_.identity.authority_pem;
    tls.pem_key_cert_pairs.push_back({options_.identity.key_pem, options_.identity.certificate_pem});
    grpc::ServerBuilder builder;
    builder.AddListeningPort(options_.listen, grpc::SslServerCredentials(tls), &port_);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // a second coordinator must not share the port
    builder.SetMaxReceiveMessageSize(kLargestMessage);
    grpc::ResourceQuota quota("federation");
    quota.SetMaxThreads(kMostThreads);
    builder.SetResourceQuota(quota);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    if (!server_ || port_ == 0) {
      return absl::UnavailableError(absl::StrCat("cannot listen on ", options_.listen,
                                                 ": is it in use, or no address of this machine?"));
    }
    ticker_ = std::jthread([this](std::stop_token stop) { TickUntil(stop); });
    return absl::OkStatus();
  }

  int port() const override { return port_; }

  absl::Status WaitUntilFinished(std::stop_token stop) override {
    std::unique_lock lock(mutex_);
    absl::Time finished = absl::InfiniteFuture();
    while (true) {
      if (!failure_.ok()) return failure_;
      if (stop.stop_requested())
        return absl::CancelledError("the coordinator was stopped; its state is kept");
      const absl::Time now = absl::Now();
      if (coordinator_->Finished()) finished = std::min(finished, now);
      if (now >= finished + options_.linger) return absl::OkStatus();
      if (finished != absl::InfiniteFuture() && coordinator_->live_sites() <= service_.served()) {
        return absl::OkStatus();
      }
      changed_.wait_for(lock, std::chrono::milliseconds(50));
    }
  }

 private:
  void TickUntil(std::stop_token stop) {
    while (!stop.stop_requested()) {
      if (absl::Status status = coordinator_->Tick(); !status.ok()) {
        std::lock_guard lock(mutex_);
        failure_ = status;
        changed_.notify_all();
        return;
      }
      absl::SleepFor(kTick);
    }
  }

  Coordinator* coordinator_;
  const CoordinatorServerOptions options_;
  FederationService service_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  absl::Status failure_;
  std::jthread ticker_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<CoordinatorServer>> CoordinatorServer::Start(
    Coordinator* coordinator, const CoordinatorServerOptions& options) {
  auto server = std::make_unique<GrpcCoordinatorServer>(coordinator, options);
  if (auto status = server->Listen(); !status.ok()) return status;
  return server;
}

}  // namespace waymark
