// grpc.health.v1.Health: overall ("") and by the full name of a service; Check and Watch.
//
// gRPC brings a health service of its own, but it says SERVING between its start and the first call that
// could say otherwise; this one begins with NOT_SERVING, and ends its watches when the server stops.
#pragma once
#include <grpcpp/grpcpp.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "grpc/health/v1/health.grpc.pb.h"

namespace waymark {

// What is watched: shared by the health services of all ports. Thread-safe.
class HealthBoard {
 public:
  class Watcher {
   public:
    virtual ~Watcher() = default;
    // Called under the board's lock: must not block, nor call the board.
    virtual void Changed(bool serving, bool stopping) = 0;
  };

  explicit HealthBoard(std::set<std::string> services) : services_(std::move(services)) {}
  bool Knows(const std::string& service) const { return service.empty() || services_.contains(service); }
  bool serving() const;
  void SetServing(bool serving);
  // NOT_SERVING for good; watches end.
  void Stop();
  // Tells the state at once, then each change, until removed.
  void AddWatcher(Watcher* watcher);
  void RemoveWatcher(Watcher* watcher);

 private:
  void Tell();
  const std::set<std::string> services_;
  mutable absl::Mutex mutex_;
  bool serving_ = false, stopping_ = false;  // guarded by mutex_
  std::set<Watcher*> watchers_;              // guarded by mutex_
};

class HealthService : public grpc::health::v1::Health::CallbackService {
 public:
  explicit HealthService(std::shared_ptr<HealthBoard> board) : board_(std::move(board)) {}
  grpc::ServerUnaryReactor* Check(grpc::CallbackServerContext* context,
                                  const grpc::health::v1::HealthCheckRequest* request,
                                  grpc::health::v1::HealthCheckResponse* response) override;
  grpc::ServerWriteReactor<grpc::health::v1::HealthCheckResponse>* Watch(
      grpc::CallbackServerContext* context, const grpc::health::v1::HealthCheckRequest* request) override;

 private:
  std::shared_ptr<HealthBoard> board_;
};

}  // namespace waymark
