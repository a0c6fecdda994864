// One gRPC port: services, limits, and whether it describes itself by reflection.
#pragma once
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/service_type.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace waymark {

struct RpcListenerOptions {
  std::string address;      // host:port; port 0: any free one
  std::string option_name;  // for errors: "--grpc"
  bool reflection = false;
  int max_message_bytes = (16 << 20) + (64 << 10);
  size_t max_memory_bytes = size_t{1} << 30;  // of gRPC's own buffers
};

class RpcListener {
 public:
  // UNAVAILABLE: the port is taken, or the address is not one of this machine.
  static absl::StatusOr<std::unique_ptr<RpcListener>> Start(
      const RpcListenerOptions& options, std::vector<std::unique_ptr<grpc::Service>> services);
  ~RpcListener();
  int port() const { return port_; }
  // Takes no new calls, lets running ones finish until `when`, then cancels them. Returns when all have
  // ended.
  void Shutdown(absl::Time when);

 private:
  RpcListener() = default;
  std::vector<std::unique_ptr<grpc::Service>> services_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

}  // namespace waymark
