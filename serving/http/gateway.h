// The API over HTTP/JSON, in this process: finds the method by the annotations of the descriptors, turns
// JSON into its message, runs it through the same registry and limits as gRPC, and answers in JSON.
//
//   curl localhost:7780/v1/search -d '{"query": "star wars"}'
//
// GET /healthz answers 200 while serving, else 503. The header X-Server-Timeout: SECONDS is the deadline.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "serving/call_runner.h"
#include "serving/method_registry.h"

namespace waymark {

struct GatewayOptions {
  std::string address;                // host:port; port 0: any free one
  std::string option_name;            // for errors: "--http"
  std::vector<std::string> services;  // full names of those to serve
  std::vector<std::string> cors_origins;
  int threads = 64;          // open connections served at once
  size_t max_waiting = 256;  // connections that wait for a thread
  size_t max_body_bytes = size_t{32} << 20;
  // How long a connection without a request is kept: at least the first, which clients are told; up to the
  // second while no other connection waits for its thread.
  absl::Duration idle_timeout = absl::Seconds(2), longest_idle_timeout = absl::Seconds(75);
  absl::Duration read_timeout = absl::Seconds(10), write_timeout = absl::Seconds(10);
};

class Gateway {
 public:
  // Listens when it returns. UNAVAILABLE: the port is taken. The registry and the runner must outlive it.
  static absl::StatusOr<std::unique_ptr<Gateway>> Start(const GatewayOptions& options,
                                                        const MethodRegistry* registry, CallRunner* runner,
                                                        std::function<bool()> serving);
  ~Gateway();
  int port() const;
  // Takes no new connections, answers what runs, closes. What still runs at `when` is told to give up.
  void Shutdown(absl::Time when);

 private:
  class Impl;
  explicit Gateway(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace waymark
