#include "serving/server.h"

#include <unistd.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "serving/call_runner.h"
#include "serving/experiment_host.h"
#include "serving/http/gateway.h"
#include "serving/listen_address.h"
#include "serving/method_registry.h"
#include "serving/rpc/health_service.h"
#include "serving/rpc/listener.h"
#include "serving/rpc/rpc_calls.h"
#include "serving/rpc/services.h"
#include "serving/server_log.h"
#include "serving/service_names.h"
#include "serving/services/admin_service.h"
#include "serving/services/catalog_service.h"
#include "serving/services/curation_service.h"
#include "serving/services/event_service.h"
#include "serving/services/experiment_service.h"
#include "serving/services/model_service.h"
#include "serving/services/ranking_services.h"
#include "serving/services/release_service.h"
#include "serving/services/slot_service.h"
#include "serving/services/suggest_service.h"
#include "serving/services/user_service.h"
#include "store/server_file.h"

namespace waymark {
namespace {

std::set<std::string> HealthNames() {
  std::set<std::string> names{AdminServiceName()};
  for (std::string& name : PublicServiceNames()) names.insert(std::move(name));
  return names;
}

CallRunnerOptions RunnerOptions(const ServerOptions& options) {
  return {.workers = options.worker_threads,
          .max_requests = options.max_concurrent_requests,
          .max_bulk = options.max_long_calls,
          .default_deadline = options.default_deadline,
          .slow_call = options.slow_call};
}

// The address with the port that was chosen.
std::string Actual(const std::string& wanted, int port) {
  auto address = ParseListenAddress(wanted, "");
  if (!address.ok()) return "";
  address->port = port;
  return FormatListenAddress(*address);
}

absl::Status CheckOptions(const ServerOptions& options) {
  if (options.max_concurrent_requests < 1 || options.max_long_calls < 1 || options.http_threads < 1 ||
      options.worker_threads < 0) {
    return absl::InvalidArgumentError("the limits of requests, long calls and threads take 1 or more");
  }
  if (options.default_deadline <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError("default_deadline: takes more than 0");
  }
  return absl::OkStatus();
}

}  // namespace

class Server::Impl {
 public:
  explicit Impl(ServerOptions options)
      : options_(std::move(options)),
        log_(options_.log_level),
        board_(std::make_shared<HealthBoard>(HealthNames())) {}

  absl::Status Start(Engine* engine) {
    if (engine_ != nullptr) return absl::FailedPreconditionError("the server has been started before");
    if (auto status = CheckOptions(options_); !status.ok()) return status;
    if (auto status = CheckAddresses(); !status.ok()) return status;
    engine_ = engine;
    if (auto status = RemoveIncomingModels(engine->store().data_folder()); !status.ok()) return status;
    host_ = std::make_unique<ExperimentHost>(engine);
    if (auto status = RegisterMethods(); !status.ok()) return status;
    host_->Start();
    runner_ = std::make_unique<CallRunner>(RunnerOptions(options_), &log_);
    calls_ = std::make_unique<RpcCalls>(&registry_, runner_.get());
    absl::Status status = Listen();
    if (!status.ok()) {
      StopListening(absl::Now());
      return status;
    }
    started_ = true;
    log_.Info("started", {{"pid", getpid()},
                          {"data", engine->store().data_folder().string()},
                          {"grpc", grpc_address()},
                          {"http", http_address()},
                          {"admin", admin_address()}});
    return absl::OkStatus();
  }

  void SetServing(bool serving) {
    board_->SetServing(serving);
    log_.Info("health", {{"serving", board_->serving()}});
  }

  void Shutdown(absl::Duration grace) {
    std::call_once(shutdown_once_, [&] {
      if (started_) Stop(grace);
      down_.Notify();
    });
    down_.WaitForNotification();
  }
  void WaitForShutdown() { down_.WaitForNotification(); }

  std::string grpc_address() const { return grpc_ ? Actual(options_.grpc_address, grpc_->port()) : ""; }
  std::string http_address() const { return http_ ? Actual(options_.http_address, http_->port()) : ""; }
  std::string admin_address() const { return admin_ ? Actual(options_.admin_address, admin_->port()) : ""; }
  std::string admin_http_address() const {
    return admin_http_ ? Actual(options_.admin_http_address, admin_http_->port()) : "";
  }

 private:
  absl::Status CheckAddresses() {
    for (const auto& [option, text] : {std::pair("--grpc", &options_.grpc_address),
                                       {"--http", &options_.http_address},
                                       {"--admin", &options_.admin_address},
                                       {"--admin-http", &options_.admin_http_address}}) {
      const bool may_be_empty =
          std::string_view(option) == "--http" || std::string_view(option) == "--admin-http";
      if (text->empty() && may_be_empty) continue;
      auto address = ParseListenAddress(*text, option);
      if (!address.ok()) return address.status();
      if (IsLoopback(*address)) continue;
      if (!options_.insecure) {
        return absl::FailedPreconditionError(
            absl::StrCat(option, ": ", *text,
                         " can be reached from other machines, and this server has neither keys nor TLS. Use "
                         "127.0.0.1, or say --insecure when the network is trusted."));
      }
      log_.Warn("insecure_address",
                {{"option", option},
                 {"address", *text},
                 {"message", "anybody who reaches this address can read and write everything"}});
    }
    return absl::OkStatus();
  }

  absl::Status RegisterMethods() {
    RegisterCatalog(engine_, &registry_);
    RegisterUsers(engine_, host_.get(), &registry_);
    RegisterEvents(engine_, &registry_);
    RegisterRanking(engine_, host_.get(), &registry_);
    RegisterSuggest(engine_, &registry_);
    RegisterModels(engine_, &registry_);
    RegisterReleases(engine_, &registry_);
    RegisterExperiments(engine_, host_.get(), &registry_);
    RegisterCuration(engine_, &registry_);
    RegisterSlots(engine_, host_.get(), &registry_);
    RegisterAdmin(engine_, absl::Now(), &registry_);
    std::vector<std::string> services = PublicServiceNames();
    services.push_back(AdminServiceName());
    for (const std::string& name : services) {
      const auto* service = google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(name);
      const std::vector<std::string> missing = registry_.Missing(*service);
      if (!missing.empty()) return absl::InternalError(absl::StrCat("no handler for ", missing.front()));
    }
    return absl::OkStatus();
  }

  absl::Status Listen() {
    std::vector<std::unique_ptr<grpc::Service>> services = MakePublicServices(engine_, calls_.get());
    services.push_back(std::make_unique<HealthService>(board_));
    auto grpc =
        RpcListener::Start({.address = options_.grpc_address, .option_name = "--grpc"}, std::move(services));
    if (!grpc.ok()) return grpc.status();
    grpc_ = *std::move(grpc);
    // Reflection lists the services of its own port, so the admin port has the public ones too.
    services = MakePublicServices(engine_, calls_.get());
    services.push_back(MakeAdminService(calls_.get()));
    services.push_back(std::make_unique<HealthService>(board_));
    auto admin =
        RpcListener::Start({.address = options_.admin_address, .option_name = "--admin", .reflection = true},
                           std::move(services));
    if (!admin.ok()) return admin.status();
    admin_ = *std::move(admin);
    if (auto status = ListenHttp(options_.http_address, "--http", PublicServiceNames(), &http_); !status.ok())
      return status;
    auto status = ListenHttp(options_.admin_http_address, "--admin-http", {AdminServiceName()}, &admin_http_);
    if (!status.ok()) return status;
    auto file = ServerFile::Write(
        engine_->store().data_folder(),
        {.grpc_address = grpc_address(), .http_address = http_address(), .admin_address = admin_address()},
        Clock::Real());
    if (!file.ok()) return file.status();
    file_ = *std::move(file);
    return absl::OkStatus();
  }

  absl::Status ListenHttp(const std::string& address, const std::string& option,
                          std::vector<std::string> services, std::unique_ptr<Gateway>* gateway) {
    if (address.empty()) return absl::OkStatus();
    auto made = Gateway::Start({.address = address,
                                .option_name = option,
                                .services = std::move(services),
                                .cors_origins = options_.cors_origins,
                                .threads = options_.http_threads},
                               &registry_, runner_.get(), [this] { return board_->serving(); });
    if (!made.ok()) return made.status();
    *gateway = *std::move(made);
    return absl::OkStatus();
  }

  void StopListening(absl::Time when) {
    // Each waits for its own calls; all stop taking new ones at once.
    std::vector<std::thread> stops;
    if (http_) stops.emplace_back([this, when] { http_->Shutdown(when); });
    if (admin_http_) stops.emplace_back([this, when] { admin_http_->Shutdown(when); });
    if (grpc_) stops.emplace_back([this, when] { grpc_->Shutdown(when); });
    if (admin_) stops.emplace_back([this, when] { admin_->Shutdown(when); });
    for (std::thread& stop : stops) stop.join();
  }

  void Stop(absl::Duration grace) {
    const absl::Time start = absl::Now();
    log_.Info("stopping", {{"grace_seconds", absl::ToDoubleSeconds(grace)}});
    board_->Stop();
    StopListening(start + grace);
    host_->Stop();
    // Everything that was answered is durable already; this makes the next start quick.
    if (auto status = engine_->Checkpoint(); !status.ok()) {
      log_.Error("checkpoint_failed", {{"message", std::string(status.message())}});
    }
    if (auto status = engine_->store().Flush(); !status.ok()) {
      log_.Error("flush_failed", {{"message", std::string(status.message())}});
    }
    file_.reset();
    log_.Info("stopped", {{"milliseconds", absl::ToDoubleMilliseconds(absl::Now() - start)}});
  }

  const ServerOptions options_;
  ServerLog log_;
  std::shared_ptr<HealthBoard> board_;
  Engine* engine_ = nullptr;
  std::atomic<bool> started_{false};
  MethodRegistry registry_;
  std::unique_ptr<ExperimentHost> host_;
  // In this order they end: listeners first, then the threads that work for them.
  std::unique_ptr<CallRunner> runner_;
  std::unique_ptr<RpcCalls> calls_;
  std::unique_ptr<RpcListener> grpc_, admin_;
  std::unique_ptr<Gateway> http_, admin_http_;
  std::unique_ptr<ServerFile> file_;
  std::once_flag shutdown_once_;
  absl::Notification down_;
};

Server::Server(ServerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Server::~Server() { impl_->Shutdown(absl::ZeroDuration()); }
absl::Status Server::Start(Engine* engine) { return impl_->Start(engine); }
void Server::SetServing(bool serving) { impl_->SetServing(serving); }
std::string Server::grpc_address() const { return impl_->grpc_address(); }
std::string Server::http_address() const { return impl_->http_address(); }
std::string Server::admin_address() const { return impl_->admin_address(); }
std::string Server::admin_http_address() const { return impl_->admin_http_address(); }
void Server::WaitForShutdown() { impl_->WaitForShutdown(); }
void Server::Shutdown(absl::Duration grace) { impl_->Shutdown(grace); }

}  // namespace waymark
