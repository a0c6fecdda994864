// The coordinator on the network: gRPC over TLS, certificates on both sides. A site is who its certificate's
// common name says.
//
//   auto server = CoordinatorServer::Start(coordinator.get(), {"0.0.0.0:7800", identity});
//   (*server)->WaitUntilFinished(stop);
#pragma once
#include <memory>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "training/federated/rounds/coordinator.h"
#include "training/federated/rpc/tls_identity.h"

namespace waymark {

struct CoordinatorServerOptions {
  std::string listen;  // HOST:PORT; port 0: any
  TlsIdentity identity;
  // After the last round, so that sites can fetch the model.
  absl::Duration linger = absl::Seconds(30);
};

class CoordinatorServer {
 public:
  virtual ~CoordinatorServer() = default;  // stops listening
  // Borrows the coordinator, and ticks it on a thread of its own. UNAVAILABLE: cannot listen there.
  static absl::StatusOr<std::unique_ptr<CoordinatorServer>> Start(Coordinator* coordinator,
                                                                  const CoordinatorServerOptions& options);
  virtual int port() const = 0;
  // OK: all rounds are done, and sites had `linger` to fetch the model, or every site that joined has it.
  // CANCELLED: stopped, the state is kept; others: of the disk.
  virtual absl::Status WaitUntilFinished(std::stop_token stop) = 0;
};

}  // namespace waymark
