// What a caller is told whose message cannot be read. gRPC's callback services answer UNIMPLEMENTED without a
// word, as if there were no such method; here it is INVALID_ARGUMENT, with the usual cause.
//
//   builder.experimental().SetInterceptorCreators(MakeUnreadableMessageInterceptors());
#pragma once
#include <grpcpp/support/server_interceptor.h>

#include <memory>
#include <vector>

namespace waymark {

std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>>
MakeUnreadableMessageInterceptors();

}  // namespace waymark
