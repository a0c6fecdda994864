// Admits calls and runs them on threads of our own, never on those of gRPC. What is over the limit is refused
// at once with RESOURCE_EXHAUSTED and a time to come back: a queue that grows only makes everybody late.
//
// Three pools: requests (one thread a core: they compute), calls that wait for the disk or for a consistency
// token (they sleep), and long work such as imports, exports and activations, which must not hold up
// searches.
//
//   runner.Run(method, request, &response, context, [](absl::Status status) { ... });
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "serving/method_registry.h"
#include "serving/server_log.h"
#include "serving/worker_pool.h"

namespace waymark {

struct CallRunnerOptions {
  int workers = 0;  // 0: one a core
  int waiting_workers = 32;
  int bulk_workers = 4;
  int max_requests = 256;  // running and waiting, but for long work
  int max_bulk = 32;       // long unary calls and open streams
  absl::Duration default_deadline = absl::Seconds(2);
  absl::Duration slow_call = absl::Seconds(1);
};

// Thread-safe.
class CallRunner {
 public:
  CallRunner(const CallRunnerOptions& options, const ServerLog* log);

  // The request and the response must live until `done`, which is called exactly once: on a worker, or on
  // this thread when the call is refused. A call without a deadline gets the default one, long work none.
  void Run(const Method& method, const google::protobuf::Message& request,
           google::protobuf::Message* response, CallContext context, std::function<void(absl::Status)> done);

  // A place among the streams, held by the object; null: all are taken. Streams run their steps by RunStep,
  // one at a time each.
  std::shared_ptr<void> OpenStream();
  void RunStep(std::function<void()> step) { bulk_.Submit(std::move(step)); }
  // What a stream that finds no place is answered.
  absl::Status Busy() const;
  // Logs the end of a call or a stream.
  void LogEnd(std::string_view method, const absl::Status& status, absl::Duration took) const;

 private:
  CallRunnerOptions options_;
  const ServerLog* log_;
  std::atomic<int> requests_{0};
  std::atomic<int> bulk_calls_{0};
  // Last, so that their threads end before what they use.
  WorkerPool requests_pool_, waiting_pool_, bulk_;
};

}  // namespace waymark
