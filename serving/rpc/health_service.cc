#include "serving/rpc/health_service.h"

#include <optional>
#include <utility>

namespace waymark {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

// One open Watch. At most one write is under way; changes meanwhile fold into the newest.
class WatchReactor : public grpc::ServerWriteReactor<HealthCheckResponse>, public HealthBoard::Watcher {
 public:
  WatchReactor(std::shared_ptr<HealthBoard> board, bool known) : board_(std::move(board)), known_(known) {}
  // Apart from the constructor: once the first write is started, callbacks come.
  void Begin() { board_->AddWatcher(this); }

  void Changed(bool serving, bool stopping) override {
    Go([&] {
      wanted_ = !known_   ? HealthCheckResponse::SERVICE_UNKNOWN
                : serving ? HealthCheckResponse::SERVING
                          : HealthCheckResponse::NOT_SERVING;
      stopping_ = stopping_ || stopping;
    });
  }
  void OnWriteDone(bool ok) override {
    Go([&] {
      writing_ = false;
      gone_ = gone_ || !ok;
    });
  }
  void OnCancel() override {
    Go([&] { gone_ = true; });
  }
  void OnDone() override {
    board_->RemoveWatcher(this);
    delete this;
  }

 private:
  // Finish comes last and without the lock: after it this object may be gone.
  template <class Change>
  void Go(const Change& change) {
    std::optional<grpc::Status> end;
    {
      absl::MutexLock lock(&mutex_);
      change();
      end = Step();
    }
    if (end) this->Finish(*end);
  }
  // mutex_ is held. What to finish with, when it is time.
  std::optional<grpc::Status> Step() {
    if (writing_ || finished_) return std::nullopt;
    if (!gone_ && wanted_ != told_) {
      told_ = wanted_;
      writing_ = true;
      message_.set_status(told_);
      StartWrite(&message_);
      return std::nullopt;
    }
    if (!gone_ && !stopping_) return std::nullopt;
    finished_ = true;
    return gone_ ? grpc::Status(grpc::StatusCode::CANCELLED, "the caller has gone away")
                 : grpc::Status(grpc::StatusCode::UNAVAILABLE, "the server is shutting down");
  }

  std::shared_ptr<HealthBoard> board_;
  const bool known_;
  absl::Mutex mutex_;
  HealthCheckResponse::ServingStatus wanted_ = HealthCheckResponse::UNKNOWN,
                                     told_ = HealthCheckResponse::UNKNOWN;
  HealthCheckResponse message_;
  bool writing_ = false, gone_ = false, stopping_ = false, finished_ = false;
};

}  // namespace

bool HealthBoard::serving() const {
  absl::MutexLock lock(&mutex_);
  return serving_;
}

void HealthBoard::SetServing(bool serving) {
  absl::MutexLock lock(&mutex_);
  serving_ = serving && !stopping_;
  Tell();
}

void HealthBoard::Stop() {
  absl::MutexLock lock(&mutex_);
  serving_ = false;
  stopping_ = true;
  Tell();
}

void HealthBoard::Tell() {
  for (Watcher* watcher : watchers_) watcher->Changed(serving_, stopping_);
}

void HealthBoard::AddWatcher(Watcher* watcher) {
  absl::MutexLock lock(&mutex_);
  watchers_.insert(watcher);
  watcher->Changed(serving_, stopping_);
}

void HealthBoard::RemoveWatcher(Watcher* watcher) {
  absl::MutexLock lock(&mutex_);
  watchers_.erase(watcher);
}

grpc::ServerUnaryReactor* HealthService::Check(grpc::CallbackServerContext* context,
                                               const HealthCheckRequest* request,
                                               HealthCheckResponse* response) {
  auto* reactor = context->DefaultReactor();
  if (!board_->Knows(request->service())) {
    reactor->Finish(
        grpc::Status(grpc::StatusCode::NOT_FOUND, "no service '" + request->service() + "' here"));
    return reactor;
  }
  response->set_status(board_->serving() ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING);
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerWriteReactor<HealthCheckResponse>* HealthService::Watch(grpc::CallbackServerContext* /*context*/,
                                                                    const HealthCheckRequest* request) {
  auto* reactor = new WatchReactor(board_, board_->Knows(request->service()));
  reactor->Begin();
  return reactor;
}

}  // namespace waymark
