// A client stream over gRPC. The next message is read only when the one before has been written, so that a
// fast client waits for the disk instead of filling the memory.
#pragma once
#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "serving/rpc/rpc_calls.h"
#include "serving/services/stream_sessions.h"

namespace waymark {

// Owns itself: ends in OnDone.
template <class Request, class Response>
class ImportReactor : public grpc::ServerReadReactor<Request> {
 public:
  using Session = ImportSession<Request, Response>;

  ImportReactor(std::string method, CallRunner* runner, grpc::CallbackServerContext* context,
                std::unique_ptr<Session> session, Response* response)
      : method_(std::move(method)),
        runner_(runner),
        context_(ContextOf(*context)),
        session_(std::move(session)),
        response_(response),
        place_(runner->OpenStream()) {}

  // Apart from the constructor: from here on callbacks come.
  void Begin() {
    if (place_ == nullptr) return End(runner_->Busy());
    this->StartRead(&request_);
  }
  void OnReadDone(bool ok) override {
    runner_->RunStep([this, ok] {
      if (!ok) return End(Guarded([this] { return session_->Finish(response_, context_); }));
      absl::Status status = Guarded([this] { return session_->Take(request_, context_); });
      if (!status.ok()) return End(std::move(status));
      request_.Clear();
      this->StartRead(&request_);
    });
  }
  void OnDone() override { delete this; }

 private:
  template <class Step>
  absl::Status Guarded(const Step& step) {
    if (auto status = context_.Check(); !status.ok()) return status;
    try {
      return step();
    } catch (const std::exception& error) {
      return absl::InternalError(method_ + ": " + error.what());
    }
  }
  void End(absl::Status status) {
    session_.reset();
    place_.reset();
    runner_->LogEnd(method_, status, absl::Now() - start_);
    this->Finish(ToGrpcStatus(status));
  }

  const absl::Time start_ = absl::Now();
  std::string method_;
  CallRunner* runner_;
  CallContext context_;
  std::unique_ptr<Session> session_;
  Response* response_;
  std::shared_ptr<void> place_;  // among the open streams
  Request request_;
};

}  // namespace waymark
