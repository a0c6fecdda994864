#include "serving/rpc/listener.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/impl/server_builder_option.h>
#include <grpcpp/resource_quota.h>

#include <algorithm>
#include <utility>

#include "serving/listen_address.h"
#include "serving/rpc/unreadable_message.h"

namespace waymark {
namespace {

constexpr char kReflectionPlugin[] = "proto_server_reflection";

// Linking grpc++_reflection may put reflection on every server of the process, or, where the linker finds
// the library unused, on none: this says for one server whether it has it.
class ReflectionChoice : public grpc::ServerBuilderOption {
 public:
  explicit ReflectionChoice(bool wanted) : wanted_(wanted) {}
  void UpdateArguments(grpc::ChannelArguments*) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>* plugins) override {
    plugins->erase(std::remove_if(plugins->begin(), plugins->end(),
                                  [](const auto& plugin) { return plugin->name() == kReflectionPlugin; }),
                   plugins->end());
    if (wanted_) plugins->push_back(std::make_unique<grpc::reflection::ProtoServerReflectionPlugin>());
  }

 private:
  const bool wanted_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RpcListener>> RpcListener::Start(
    const RpcListenerOptions& options, std::vector<std::unique_ptr<grpc::Service>> services) {
  // Asked here first, because gRPC writes a page to standard error about a port that is taken.
  if (auto status = CheckCanListen(options.address, options.option_name); !status.ok()) return status;
  std::unique_ptr<RpcListener> listener(new RpcListener());
  listener->services_ = std::move(services);
  grpc::ServerBuilder builder;
  // Else a second server on this port would take every other connection instead of failing.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxReceiveMessageSize(options.max_message_bytes);
  builder.SetMaxSendMessageSize(options.max_message_bytes);
  grpc::ResourceQuota quota("waymark");
  quota.Resize(options.max_memory_bytes);
  builder.SetResourceQuota(quota);
  // Reflection is the only synchronous service; it needs few threads.
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::NUM_CQS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::MAX_POLLERS, 2);
  builder.SetOption(std::make_unique<ReflectionChoice>(options.reflection));
  builder.experimental().SetInterceptorCreators(MakeUnreadableMessageInterceptors());
  for (const auto& service : listener->services_) builder.RegisterService(service.get());
  builder.AddListeningPort(options.address, grpc::InsecureServerCredentials(), &listener->port_);
  listener->server_ = builder.BuildAndStart();
  if (listener->server_ == nullptr || listener->port_ <= 0) {
    return CannotListen(options.address, options.option_name);
  }
  return listener;
}

RpcListener::~RpcListener() {
  if (server_ != nullptr) Shutdown(absl::Now());
}

void RpcListener::Shutdown(absl::Time when) { server_->Shutdown(absl::ToChronoTime(when)); }

}  // namespace waymark
