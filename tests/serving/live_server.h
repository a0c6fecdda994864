// A server with an engine over a folder of its own, and clients of it: what the tests of this folder share.
#pragma once
#include <grpcpp/grpcpp.h>
#include <httplib.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "absl/synchronization/mutex.h"
#include "google/rpc/status.pb.h"
#include "nlohmann/json.hpp"
#include "pipeline/engine.h"
#include "serving/server.h"

namespace waymark::tests {

// Holds requests until it is opened, so that tests see a busy server.
class Gate {
 public:
  void Close();
  void Open();
  // Waits until `count` requests stand at the gate.
  void AwaitWaiting(int count);
  void Pass();
  // While set, what a consistency token covers never comes.
  void SetStale(bool stale);
  bool stale();
  // What the arm with this release makes of requests and copies takes so much longer.
  void SetSlow(const std::string& arm_release, absl::Duration by);
  absl::Duration Slowness(const std::string& arm_release);

 private:
  absl::Mutex mutex_;
  bool open_ = true;    // guarded by mutex_
  int waiting_ = 0;     // guarded by mutex_
  bool stale_ = false;  // guarded by mutex_
  std::string slow_;    // guarded by mutex_
  absl::Duration slow_by_;
};

// An engine whose collections pass a gate before they run a request; all else is the real one's.
class GatedEngine : public Engine {
 public:
  explicit GatedEngine(std::unique_ptr<Engine> real);
  ~GatedEngine() override;
  Store& store() override { return real_->store(); }
  absl::StatusOr<Collection*> OpenCollection(const CollectionName& name, bool create) override;
  std::vector<Collection*> Collections() override { return real_->Collections(); }
  void CheckServed(PartCheck* check) const override { real_->CheckServed(check); }
  int64_t served_records_dropped() const override { return real_->served_records_dropped(); }
  absl::StatusOr<storage::Attribution> ReadAttributionToken(std::string_view token) const override {
    return real_->ReadAttributionToken(token);
  }
  std::string MakeAttributionToken(const storage::Attribution& attribution) const override {
    return real_->MakeAttributionToken(attribution);
  }
  absl::Status Checkpoint() override { return real_->Checkpoint(); }
  Gate& gate() { return gate_; }

 private:
  std::unique_ptr<Engine> real_;
  Gate gate_;
  absl::Mutex mutex_;
  std::map<Collection*, std::unique_ptr<Collection>> gated_;  // guarded by mutex_
};

struct TemporaryFolder {
  TemporaryFolder();
  ~TemporaryFolder();
  std::filesystem::path path;
};

// All ports are free ones. Serving from the start.
class LiveServer {
 public:
  explicit LiveServer(ServerOptions options = {});
  ~LiveServer();
  // The same folder, opened again by another server.
  void Restart();
  static ServerOptions OnFreePorts(ServerOptions options);

  std::shared_ptr<grpc::Channel> channel() const;
  std::shared_ptr<grpc::Channel> admin_channel() const;
  std::unique_ptr<httplib::Client> http() const;
  // POST of JSON; the answer's JSON, with its HTTP status in `status`.
  nlohmann::json Post(const std::string& path, const std::string& body, int* status) const;
  nlohmann::json Get(const std::string& path, int* status) const;

  TemporaryFolder folder;
  std::unique_ptr<GatedEngine> engine;
  std::unique_ptr<Server> server;

 private:
  void Start();
  const ServerOptions options_;
};

// The channel of a port of its own, without sharing connections with others.
std::shared_ptr<grpc::Channel> Connect(const std::string& address);
// google.rpc.Status of an error.
google::rpc::Status Details(const grpc::Status& status);
template <class Detail>
bool Find(const grpc::Status& status, Detail* detail) {
  const google::rpc::Status details = Details(status);
  for (const auto& any : details.details()) {
    if (any.UnpackTo(detail)) return true;
  }
  return false;
}

// The first field that an error's JSON names; empty: none.
std::string FieldOf(const nlohmann::json& error);

}  // namespace waymark::tests
