#include "training/federated/rpc/coordinator_stub.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "training/federated/rpc/status_words.h"
#include "training/federated/rpc/tls_diagnosis.h"

namespace waymark {
namespace {

constexpr size_t kBytesAtOnce = 1 << 20;
// Nobody there, too slow, or what gRPC says of calls that a coordinator had when it was stopped.
bool MayPass(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) || absl::IsCancelled(status) ||
         absl::IsUnknown(status);
}

constexpr absl::Duration kFirstPause = absl::Milliseconds(200), kLongestPause = absl::Seconds(5);

}  // namespace

CoordinatorStub::CoordinatorStub(const SiteOptions& options, std::stop_token stop)
    : options_(options), stop_(std::move(stop)) {
  grpc::SslCredentialsOptions tls;
  tls.pem_root_certs = options.identity.authority_pem;
  tls.pem_private_key = options.identity.key_pem;
  tls.pem_cert_chain = options.identity.certificate_pem;
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5000);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  stub_ = federated::Federation::NewStub(
      grpc::CreateCustomChannel(options.coordinator, grpc::SslCredentials(tls), arguments));
}

absl::Status CoordinatorStub::Sleep(absl::Duration duration) const {
  const absl::Time until = absl::Now() + duration;
  while (!stop_.stop_requested() && absl::Now() < until) {
    absl::SleepFor(std::min(absl::Milliseconds(20), until - absl::Now()));
  }
  return stop_.stop_requested() ? absl::CancelledError("the site was stopped") : absl::OkStatus();
}

absl::Status CoordinatorStub::Try(const Call& call) {
  const absl::Time until = absl::Now() + options_.patience;
  for (absl::Duration pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    if (stop_.stop_requested()) return absl::CancelledError("the site was stopped");
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + options_.call_timeout));
    const absl::Status status = FromWire(call(&context));
    if (!MayPass(status)) return status;
    const absl::Status why = DiagnoseTls(options_.coordinator, options_.identity, absl::Seconds(5));
    if (!why.ok() && !absl::IsUnavailable(why)) return why;
    if (absl::Now() + pause >= until) {
      return absl::UnavailableError(
          absl::StrCat(why.ok() ? std::string(status.message()) : std::string(why.message()), " (tried for ",
                       absl::FormatDuration(options_.patience), ")"));
    }
    if (auto slept = Sleep(pause); !slept.ok()) return slept;
  }
}

absl::StatusOr<federated::JoinResponse> CoordinatorStub::Join() {
  federated::JoinRequest request;
  request.set_protocol(1);
  request.set_program_version(options_.program_version);
  federated::JoinResponse response;
  auto status = Try([&](grpc::ClientContext* context) { return stub_->Join(context, request, &response); });
  if (!status.ok()) return status;
  return response;
}

absl::StatusOr<federated::PollResponse> CoordinatorStub::Poll(const std::string& session) {
  federated::PollRequest request;
  request.set_session(session);
  federated::PollResponse response;
  auto status = Try([&](grpc::ClientContext* context) { return stub_->Poll(context, request, &response); });
  if (!status.ok()) return status;
  return response;
}

absl::Status CoordinatorStub::AdvertiseKeys(const federated::AdvertiseKeysRequest& request) {
  federated::Accepted accepted;
  return Try([&](grpc::ClientContext* context) { return stub_->AdvertiseKeys(context, request, &accepted); });
}

absl::Status CoordinatorStub::ShareKeys(const federated::ShareKeysRequest& request) {
  federated::Accepted accepted;
  return Try([&](grpc::ClientContext* context) { return stub_->ShareKeys(context, request, &accepted); });
}

absl::Status CoordinatorStub::RevealShares(const federated::RevealSharesRequest& request) {
  federated::Accepted accepted;
  return Try([&](grpc::ClientContext* context) { return stub_->RevealShares(context, request, &accepted); });
}

void CoordinatorStub::Withdraw(const federated::RoundKey& key, const std::string& reason) {
  federated::WithdrawRequest request;
  *request.mutable_key() = key;
  request.set_reason(reason);
  federated::Accepted accepted;
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(5)));
  stub_->Withdraw(&context, request, &accepted);  // a round's deadline does the same
}

absl::StatusOr<std::vector<float>> CoordinatorStub::GetModel(const federated::RoundKey& key, size_t numbers) {
  federated::GetModelRequest request;
  request.set_session(key.session());
  request.set_round(key.round());
  std::vector<float> model(numbers);
  auto status = Try([&](grpc::ClientContext* context) -> grpc::Status {
    auto reader = stub_->GetModel(context, request);
    federated::ModelChunk chunk;
    size_t filled = 0;
    bool fits = true;
    while (reader->Read(&chunk)) {
      fits = fits && chunk.data().size() <= numbers * sizeof(float) - filled;
      if (!fits) continue;
      std::memcpy(reinterpret_cast<char*>(model.data()) + filled, chunk.data().data(), chunk.data().size());
      filled += chunk.data().size();
    }
    const grpc::Status ended = reader->Finish();
    if (ended.ok() && (!fits || filled != numbers * sizeof(float))) {
      return {grpc::StatusCode::DATA_LOSS, "the coordinator's model has another size than its plan"};
    }
    return ended;
  });
  if (!status.ok()) return status;
  return model;
}

absl::Status CoordinatorStub::SubmitUpdate(const federated::RoundKey& key,
                                           absl::Span<const uint64_t> masked) {
  return Try([&](grpc::ClientContext* context) {
    federated::Accepted accepted;
    auto writer = stub_->SubmitUpdate(context, &accepted);
    const char* bytes = reinterpret_cast<const char*>(masked.data());
    const size_t size = masked.size() * sizeof(uint64_t);
    federated::UpdateChunk chunk;
    *chunk.mutable_key() = key;
    chunk.set_numbers(static_cast<int64_t>(masked.size()));
    for (size_t at = 0; at < size; at += kBytesAtOnce) {
      chunk.set_data(bytes + at, std::min(kBytesAtOnce, size - at));
      if (!writer->Write(chunk)) break;  // Finish says why
      chunk.clear_key();
      chunk.clear_numbers();
    }
    writer->WritesDone();
    return writer->Finish();
  });
}

}  // namespace waymark
