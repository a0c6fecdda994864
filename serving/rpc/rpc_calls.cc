#include "serving/rpc/rpc_calls.h"

#include <algorithm>
#include <chrono>
#include <string>

namespace waymark {
namespace {

constexpr absl::Duration kAnswerMargin = absl::Milliseconds(5);

}  // namespace

Deadline DeadlineOf(const grpc::CallbackServerContext& context) {
  const auto when = context.deadline();
  if (when == std::chrono::system_clock::time_point::max()) return Deadline::Never();
  const absl::Time deadline = absl::FromChrono(when);
  const absl::Duration left = deadline - absl::Now();
  return Deadline::At(deadline - std::min(kAnswerMargin, left / 10));
}

CallContext ContextOf(const grpc::CallbackServerContext& context) {
  return {.deadline = DeadlineOf(context), .cancelled = [&context] { return context.IsCancelled(); }};
}

grpc::ServerUnaryReactor* RpcCalls::Unary(grpc::CallbackServerContext* context, std::string_view method,
                                          const google::protobuf::Message* request,
                                          google::protobuf::Message* response) {
  auto* reactor = context->DefaultReactor();
  const Method* found = registry_->Find(method);
  if (found == nullptr) {
    reactor->Finish(grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "no method " + std::string(method)));
    return reactor;
  }
  runner_->Run(*found, *request, response, ContextOf(*context),
               [reactor](const absl::Status& status) { reactor->Finish(ToGrpcStatus(status)); });
  return reactor;
}

}  // namespace waymark
