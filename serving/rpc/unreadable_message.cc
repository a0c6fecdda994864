#include "serving/rpc/unreadable_message.h"

#include "serving/rpc/grpc_status.h"
#include "serving/status_details.h"

namespace waymark {
namespace {

using grpc::experimental::InterceptionHookPoints;

class Interceptor : public grpc::experimental::Interceptor {
 public:
  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    // Also when it could not be read; never for a method that is not served.
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_MESSAGE)) received_ = true;
    if (received_ && methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      const grpc::Status status = methods->GetSendStatus();
      // Our own handlers never end a call so.
      if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED && status.error_message().empty()) {
        methods->ModifySendStatus(ToGrpcStatus(InvalidField(
            "message", "cannot be read as what this method takes (is all of its text valid UTF-8?)")));
      }
    }
    methods->Proceed();
  }

 private:
  bool received_ = false;
};

class Factory : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  grpc::experimental::Interceptor* CreateServerInterceptor(grpc::experimental::ServerRpcInfo*) override {
    return new Interceptor();
  }
};

}  // namespace

std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>>
MakeUnreadableMessageInterceptors() {
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> made;
  made.push_back(std::make_unique<Factory>());
  return made;
}

}  // namespace waymark
