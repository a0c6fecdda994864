// absl::Status as gRPC sends it: code, message, and google.rpc.Status in grpc-status-details-bin.
#pragma once
#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"

namespace waymark {

grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace waymark
