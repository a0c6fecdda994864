// The server: gRPC for programs, HTTP/JSON for curl and browsers, and an admin port for operators and the
// command line, all over one engine.
//
//   Server server({.grpc_address = "127.0.0.1:7700"});
//   if (auto status = server.Start(engine.get()); !status.ok()) ...
//   server.SetServing(true);      // when the snapshot is loaded
//   server.WaitForShutdown();     // until Shutdown() is called, by a signal's thread for instance
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "pipeline/engine.h"

namespace waymark {

struct ServerOptions {
  // host:port; port 0: any free one.
  std::string grpc_address = "127.0.0.1:7700";
  std::string http_address = "127.0.0.1:7780";  // empty: no HTTP
  std::string admin_address = "127.0.0.1:7701";
  // AdminService over HTTP too; empty: over gRPC only.
  std::string admin_http_address;
  // Listens on addresses that other machines reach, although there are neither keys nor TLS.
  bool insecure = false;

  int worker_threads = 0;  // of requests; 0: one a core
  int max_concurrent_requests = 256;
  int max_long_calls = 32;  // imports, exports, activations, ...
  absl::Duration default_deadline = absl::Seconds(2);
  absl::Duration slow_call = absl::Seconds(1);
  int http_threads = 64;
  std::vector<std::string> cors_origins;  // web pages that may call; none by default
  std::string log_level = "info";         // debug: every call; info; warn; error; off
};

// Thread-safe.
class Server {
 public:
  explicit Server(ServerOptions options = {});
  ~Server();  // Shutdown without grace
  Server(const Server&) = delete;

  // Listens on all ports, then writes DATA/server.json. Health says NOT_SERVING until SetServing. The engine
  // must outlive the server. FAILED_PRECONDITION: an address that other machines reach, without `insecure`;
  // UNAVAILABLE: a port is taken.
  absl::Status Start(Engine* engine);
  void SetServing(bool serving);

  // As they are, with the ports that were chosen; empty: not served.
  std::string grpc_address() const;
  std::string http_address() const;
  std::string admin_address() const;
  std::string admin_http_address() const;

  // Until Shutdown is through.
  void WaitForShutdown();
  // Health says NOT_SERVING, no new calls are taken, running ones have `grace` to finish, then are cancelled;
  // then everything derived is checkpointed. Safe to call more than once and from any thread (but not from a
  // signal handler).
  void Shutdown(absl::Duration grace);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace waymark
