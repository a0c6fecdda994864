// A server stream over gRPC. A chunk is made when the one before has gone out, so that a slow client costs
// one chunk of memory.
#pragma once
#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "serving/rpc/rpc_calls.h"
#include "serving/services/stream_sessions.h"

namespace waymark {

// Owns itself: ends in OnDone.
template <class Entry>
class ExportReactor : public grpc::ServerWriteReactor<Entry> {
 public:
  using Opener = std::function<absl::StatusOr<std::unique_ptr<ExportCursor<Entry>>>(const CallContext&)>;

  ExportReactor(std::string method, CallRunner* runner, grpc::CallbackServerContext* context, Opener open)
      : method_(std::move(method)),
        runner_(runner),
        context_(ContextOf(*context)),
        open_(std::move(open)),
        place_(runner->OpenStream()) {}

  // Apart from the constructor: from here on callbacks come.
  void Begin() {
    if (place_ == nullptr) return End(runner_->Busy());
    NextChunk();
  }
  void OnWriteDone(bool ok) override {
    if (!ok) return End(absl::CancelledError("the caller has gone away"));
    if (++sent_ < chunk_.size()) {
      this->StartWrite(&chunk_[sent_]);
    } else {
      NextChunk();
    }
  }
  void OnDone() override { delete this; }

 private:
  void NextChunk() {
    runner_->RunStep([this] {
      absl::Status status = Fill();
      if (!status.ok() || chunk_.empty()) return End(std::move(status));
      sent_ = 0;
      this->StartWrite(&chunk_[0]);
    });
  }
  absl::Status Fill() {
    if (auto status = context_.Check(); !status.ok()) return status;
    try {
      if (cursor_ == nullptr) {
        auto opened = open_(context_);
        if (!opened.ok()) return opened.status();
        cursor_ = *std::move(opened);
      }
      auto chunk = cursor_->Next(context_);
      if (!chunk.ok()) return chunk.status();
      chunk_ = *std::move(chunk);
      return absl::OkStatus();
    } catch (const std::exception& error) {
      return absl::InternalError(method_ + ": " + error.what());
    }
  }
  void End(absl::Status status) {
    cursor_.reset();
    place_.reset();
    runner_->LogEnd(method_, status, absl::Now() - start_);
    this->Finish(ToGrpcStatus(status));
  }

  const absl::Time start_ = absl::Now();
  std::string method_;
  CallRunner* runner_;
  CallContext context_;
  Opener open_;
  std::shared_ptr<void> place_;  // among the open streams
  std::unique_ptr<ExportCursor<Entry>> cursor_;
  std::vector<Entry> chunk_;
  size_t sent_ = 0;
};

}  // namespace waymark
