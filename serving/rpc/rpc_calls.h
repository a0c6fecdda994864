// What every gRPC handler does: makes the call's context, hands the work to the runner, and finishes when it
// is done. gRPC's own threads only pass things on.
#pragma once
#include <grpcpp/grpcpp.h>

#include <memory>
#include <string_view>
#include <utility>

#include "google/protobuf/message.h"
#include "serving/call_runner.h"
#include "serving/method_registry.h"
#include "serving/rpc/grpc_status.h"

namespace waymark {

// The caller's deadline, a little earlier so that the answer still gets there; never when it has set none.
Deadline DeadlineOf(const grpc::CallbackServerContext& context);
CallContext ContextOf(const grpc::CallbackServerContext& context);

// Thread-safe; outlives the services.
class RpcCalls {
 public:
  RpcCalls(const MethodRegistry* registry, CallRunner* runner) : registry_(registry), runner_(runner) {}
  grpc::ServerUnaryReactor* Unary(grpc::CallbackServerContext* context, std::string_view method,
                                  const google::protobuf::Message* request,
                                  google::protobuf::Message* response);
  CallRunner* runner() const { return runner_; }

 private:
  const MethodRegistry* registry_;
  CallRunner* runner_;
};

}  // namespace waymark
