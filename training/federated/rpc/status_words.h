// Between gRPC's status and ours, which have the same codes. Includes gRPC: for training/federated/rpc/ only.
#pragma once
#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"

namespace waymark {

inline grpc::Status ToWire(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message())};
}

inline absl::Status FromWire(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

}  // namespace waymark
