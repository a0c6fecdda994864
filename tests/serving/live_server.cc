#include "tests/serving/live_server.h"

#include <stdlib.h>

#include <utility>

#include "absl/time/clock.h"
#include "tests/support/catch.h"

namespace waymark::tests {
namespace {

class GatedCollection : public Collection {
 public:
  GatedCollection(Collection* real, Gate* gate) : real_(real), gate_(gate) {}
  const CollectionName& name() const override { return real_->name(); }
  Scope scope() const override { return real_->scope(); }
  Catalog& catalog() override { return real_->catalog(); }
  LiveCuration& curation() override { return real_->curation(); }
  absl::StatusOr<WriteReceipt> Write(std::vector<Mutation> mutations) override {
    return real_->Write(std::move(mutations));
  }
  absl::Status DeclareSchema(const storage::SchemaRecord& record) override {
    return real_->DeclareSchema(record);
  }
  std::shared_ptr<const Schema> user_schema() const override { return real_->user_schema(); }
  absl::Status DeclareUserSchema(const storage::SchemaRecord& record) override {
    return real_->DeclareUserSchema(record);
  }
  absl::StatusOr<PipelineResponse> Run(const PipelineRequest& request, Deadline deadline) override {
    gate_->Pass();
    absl::SleepFor(gate_->Slowness(request.copy ? request.release : request.arm_release));
    return real_->Run(request, deadline);
  }
  absl::StatusOr<SuggestAnswer> Suggest(const SuggestRequest& request, Deadline deadline) override {
    gate_->Pass();
    return real_->Suggest(request, deadline);
  }
  absl::Status CatchUpSuggestions(Deadline deadline) override { return real_->CatchUpSuggestions(deadline); }
  absl::StatusOr<QueryReport> ReportQueries(const QueryReportRequest& request, Deadline deadline) override {
    return real_->ReportQueries(request, deadline);
  }
  absl::Status WaitFor(const std::string& token, Deadline deadline) override {
    if (!gate_->stale()) return real_->WaitFor(token, deadline);
    absl::SleepFor(deadline.Remaining());
    return absl::DeadlineExceededError("not yet");
  }
  absl::Status CatchUp(Deadline deadline) override { return real_->CatchUp(deadline); }
  absl::StatusOr<storage::ModelRecord> ImportModel(const std::filesystem::path& folder) override {
    return real_->ImportModel(folder);
  }
  absl::StatusOr<std::vector<std::string>> VerifyModel(const std::string& kind,
                                                       const std::string& version) override {
    return real_->VerifyModel(kind, version);
  }
  absl::StatusOr<storage::ReleaseRecord> CreateRelease(storage::ReleaseRecord release) override {
    return real_->CreateRelease(std::move(release));
  }
  absl::Status ActivateRelease(const std::string& id, const std::string& reason) override {
    return real_->ActivateRelease(id, reason);
  }
  absl::StatusOr<std::string> RollbackRelease(const std::string& reason) override {
    return real_->RollbackRelease(reason);
  }
  absl::StatusOr<std::vector<ReleaseCheck>> CheckRelease(const std::string& id, double max_drop) override {
    return real_->CheckRelease(id, max_drop);
  }
  std::string active_release() const override { return real_->active_release(); }
  UnloadedRelease unloaded_release() const override { return real_->unloaded_release(); }
  std::map<std::string, absl::Status> KeepReleases(const std::set<std::string>& ids) override {
    return real_->KeepReleases(ids);
  }
  CollectionStatus status() override { return real_->status(); }
  absl::StatusOr<std::vector<PartCheck>> Check(const DataCheckOptions& options, Deadline deadline) override {
    return real_->Check(options, deadline);
  }

 private:
  Collection* real_;
  Gate* gate_;
};

nlohmann::json Read(const httplib::Result& result, int* status) {
  INFO("HTTP: " << httplib::to_string(result.error()));
  REQUIRE(result);
  *status = result->status;
  return nlohmann::json::parse(result->body);
}

}  // namespace

void Gate::Close() {
  absl::MutexLock lock(&mutex_);
  open_ = false;
}
void Gate::Open() {
  absl::MutexLock lock(&mutex_);
  open_ = true;
}
void Gate::AwaitWaiting(int count) {
  const auto there = [&] { return waiting_ >= count; };
  absl::MutexLock lock(&mutex_);
  REQUIRE(mutex_.AwaitWithTimeout(absl::Condition(&there), absl::Seconds(10)));
}
void Gate::Pass() {
  absl::MutexLock lock(&mutex_);
  ++waiting_;
  mutex_.Await(absl::Condition(&open_));
  --waiting_;
}

void Gate::SetStale(bool stale) {
  absl::MutexLock lock(&mutex_);
  stale_ = stale;
}
bool Gate::stale() {
  absl::MutexLock lock(&mutex_);
  return stale_;
}

void Gate::SetSlow(const std::string& arm_release, absl::Duration by) {
  absl::MutexLock lock(&mutex_);
  slow_ = arm_release;
  slow_by_ = by;
}
absl::Duration Gate::Slowness(const std::string& arm_release) {
  absl::MutexLock lock(&mutex_);
  return arm_release.empty() || arm_release != slow_ ? absl::ZeroDuration() : slow_by_;
}

GatedEngine::GatedEngine(std::unique_ptr<Engine> real) : real_(std::move(real)) {}
GatedEngine::~GatedEngine() = default;

absl::StatusOr<Collection*> GatedEngine::OpenCollection(const CollectionName& name, bool create) {
  auto real = real_->OpenCollection(name, create);
  if (!real.ok()) return real;
  absl::MutexLock lock(&mutex_);
  auto& gated = gated_[*real];
  if (gated == nullptr) gated = std::make_unique<GatedCollection>(*real, &gate_);
  return gated.get();
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "waymark-serving-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  path = pattern;
}
TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

ServerOptions LiveServer::OnFreePorts(ServerOptions options) {
  for (std::string* address : {&options.grpc_address, &options.http_address, &options.admin_address}) {
    *address = "127.0.0.1:0";
  }
  options.log_level = "off";
  return options;
}

LiveServer::LiveServer(ServerOptions options) : options_(std::move(options)) { Start(); }

void LiveServer::Start() {
  EngineOptions engine_options;
  engine_options.index_refresh_interval = absl::Milliseconds(20);
  auto opened = Engine::Open(folder.path / "data", engine_options);
  INFO(opened.status());
  REQUIRE(opened.ok());
  engine = std::make_unique<GatedEngine>(*std::move(opened));
  server = std::make_unique<Server>(OnFreePorts(options_));
  const absl::Status started = server->Start(engine.get());
  INFO(started);
  REQUIRE(started.ok());
  server->SetServing(true);
}

LiveServer::~LiveServer() {
  engine->gate().Open();
  server.reset();
}

void LiveServer::Restart() {
  server.reset();
  engine.reset();
  Start();
}

std::shared_ptr<grpc::Channel> Connect(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

std::shared_ptr<grpc::Channel> LiveServer::channel() const { return Connect(server->grpc_address()); }
std::shared_ptr<grpc::Channel> LiveServer::admin_channel() const { return Connect(server->admin_address()); }

std::unique_ptr<httplib::Client> LiveServer::http() const {
  auto client = std::make_unique<httplib::Client>("http://" + server->http_address());
  client->set_read_timeout(10);
  return client;
}

nlohmann::json LiveServer::Post(const std::string& path, const std::string& body, int* status) const {
  return Read(http()->Post(path, body, "application/json"), status);
}
nlohmann::json LiveServer::Get(const std::string& path, int* status) const {
  return Read(http()->Get(path), status);
}

google::rpc::Status Details(const grpc::Status& status) {
  google::rpc::Status details;
  details.ParseFromString(status.error_details());
  return details;
}

std::string FieldOf(const nlohmann::json& error) {
  for (const auto& detail : error["error"]["details"]) {
    if (detail.contains("field_violations")) return detail["field_violations"][0]["field"];
  }
  return "";
}

}  // namespace waymark::tests
