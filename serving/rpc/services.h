// The gRPC services of Waymark, each method passed on to its implementation (serving/services/).
#pragma once
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/service_type.h>

#include <memory>
#include <vector>

#include "pipeline/engine.h"
#include "serving/rpc/rpc_calls.h"

namespace waymark {

// One set for each port: gRPC ties a service object to its server.
std::vector<std::unique_ptr<grpc::Service>> MakePublicServices(Engine* engine, RpcCalls* calls);
std::unique_ptr<grpc::Service> MakeAdminService(RpcCalls* calls);

}  // namespace waymark
