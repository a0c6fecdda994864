// Calls to a coordinator: over TLS, tried again while nobody answers. Includes gRPC: for
// training/federated/rpc/ only.
#pragma once
#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "training/federated/rpc/site_client.h"
#include "waymark/federated/federation.grpc.pb.h"

namespace waymark {

// One thread.
class CoordinatorStub {
 public:
  CoordinatorStub(const SiteOptions& options, std::stop_token stop);

  absl::StatusOr<federated::JoinResponse> Join();
  absl::StatusOr<federated::PollResponse> Poll(const std::string& session);
  absl::Status AdvertiseKeys(const federated::AdvertiseKeysRequest& request);
  absl::Status ShareKeys(const federated::ShareKeysRequest& request);
  absl::Status RevealShares(const federated::RevealSharesRequest& request);
  // Once, without trying again.
  void Withdraw(const federated::RoundKey& key, const std::string& reason);
  absl::StatusOr<std::vector<float>> GetModel(const federated::RoundKey& key, size_t numbers);
  absl::Status SubmitUpdate(const federated::RoundKey& key, absl::Span<const uint64_t> masked);

  // CANCELLED when the stop came meanwhile.
  absl::Status Sleep(absl::Duration duration) const;

 private:
  using Call = std::function<grpc::Status(grpc::ClientContext*)>;
  absl::Status Try(const Call& call);

  const SiteOptions& options_;
  std::stop_token stop_;
  std::unique_ptr<federated::Federation::Stub> stub_;
};

}  // namespace waymark
