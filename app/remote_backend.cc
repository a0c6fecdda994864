#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <chrono>
#include <future>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "app/backend.h"
#include "app/package_parts.h"
#include "waymark/v1/catalog.grpc.pb.h"
#include "waymark/v1/event.grpc.pb.h"
#include "waymark/v1/model.grpc.pb.h"

namespace waymark {
namespace {

using google::protobuf::Message;

constexpr absl::Duration kLongTimeout = absl::Hours(1);
constexpr int kMaxMessageBytes = 64 << 20;

std::shared_ptr<grpc::Channel> Connect(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

class RemoteBackend : public Backend {
 public:
  RemoteBackend(const RemoteAddresses& addresses, absl::Duration timeout)
      : addresses_(addresses),
        timeout_(timeout),
        channel_(Connect(addresses.grpc)),
        admin_channel_(addresses.admin.empty() ? channel_ : Connect(addresses.admin)) {}

  std::string where() const override { return absl::StrCat("the server at ", addresses_.grpc); }

  absl::Status Call(const std::string& method, const Message& request, Message* response) override {
    grpc::ByteBuffer sent, received;
    bool own = false;
    auto status = grpc::GenericSerialize<grpc::ProtoBufferWriter, Message>(request, &sent, &own);
    if (!status.ok()) return FromGrpc(status);
    // waymark.v1.SearchService.Search -> /waymark.v1.SearchService/Search
    std::string path = "/" + method;
    path[path.rfind('.')] = '/';
    const bool admin = absl::StrContains(method, ".AdminService.");
    grpc::GenericStub stub(admin ? admin_channel_ : channel_);
    grpc::ClientContext context;
    SetDeadline(IsLongCall(method) ? kLongTimeout : timeout_, &context);
    std::promise<grpc::Status> done;
    stub.UnaryCall(&context, path, {}, &sent, &received,
                   [&done](grpc::Status s) { done.set_value(std::move(s)); });
    status = done.get_future().get();
    if (admin && addresses_.admin.empty() && status.error_code() == grpc::StatusCode::UNIMPLEMENTED) {
      return absl::UnimplementedError(
          absl::StrCat("the server at ", addresses_.grpc,
                       " does not answer this on its public port; give its admin port as --server"));
    }
    if (status.ok()) status = grpc::GenericDeserialize<grpc::ProtoBufferReader, Message>(&received, response);
    return FromGrpc(status);
  }

  absl::StatusOr<v1::ImportItemsResponse> ImportItems(const v1::ImportItemsRequest& batch) override {
    auto stub = v1::CatalogService::NewStub(channel_);
    v1::ImportItemsResponse response;
    grpc::ClientContext context;
    SetDeadline(kLongTimeout, &context);
    auto stream = stub->ImportItems(&context, &response);
    stream->Write(batch);
    if (auto status = FinishWriting(stream.get()); !status.ok()) return status;
    return response;
  }
  absl::StatusOr<v1::ImportEventsResponse> ImportEvents(const v1::ImportEventsRequest& batch) override {
    auto stub = v1::EventService::NewStub(channel_);
    v1::ImportEventsResponse response;
    grpc::ClientContext context;
    SetDeadline(kLongTimeout, &context);
    auto stream = stub->ImportEvents(&context, &response);
    stream->Write(batch);
    if (auto status = FinishWriting(stream.get()); !status.ok()) return status;
    return response;
  }
  absl::StatusOr<v1::Model> ImportModel(const std::string& parent,
                                        const std::filesystem::path& folder) override {
    auto stub = v1::ModelService::NewStub(channel_);
    v1::Model model;
    grpc::ClientContext context;
    SetDeadline(kLongTimeout, &context);
    auto stream = stub->ImportModel(&context, &model);
    auto read = ForEachPackagePart(parent, folder, [&stream](const v1::ImportModelRequest& part) {
      // A refused stream tells why in its end.
      return stream->Write(part) ? absl::OkStatus() : absl::CancelledError("");
    });
    if (!read.ok() && read.code() != absl::StatusCode::kCancelled) {
      context.TryCancel();
      stream->Finish();
      return read;
    }
    if (auto status = FinishWriting(stream.get()); !status.ok()) return status;
    return model;
  }

  absl::Status ExportItems(const v1::ExportItemsRequest& request,
                           const std::function<absl::Status(const v1::Item&)>& visit) override {
    auto stub = v1::CatalogService::NewStub(channel_);
    grpc::ClientContext context;
    auto stream = stub->ExportItems(&context, request);
    return ReadAll<v1::Item>(&context, stream.get(), visit);
  }
  absl::Status ExportEvents(const v1::ExportEventsRequest& request,
                            const std::function<absl::Status(const v1::Event&)>& visit) override {
    auto stub = v1::EventService::NewStub(channel_);
    grpc::ClientContext context;
    auto stream = stub->ExportEvents(&context, request);
    return ReadAll<v1::Event>(&context, stream.get(), visit);
  }

 private:
  static void SetDeadline(absl::Duration timeout, grpc::ClientContext* context) {
    context->set_deadline(std::chrono::system_clock::now() + absl::ToChronoMilliseconds(timeout));
  }

  absl::Status FromGrpc(const grpc::Status& status) const {
    if (status.ok()) return absl::OkStatus();
    std::string message = status.error_message();
    if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
      message = absl::StrCat("no server answers at ", addresses_.grpc, " (", message, ")");
    } else if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED && message.empty()) {
      message = absl::StrCat("no answer from ", addresses_.grpc, " in time");
    }
    return absl::Status(static_cast<absl::StatusCode>(status.error_code()), message);
  }

  template <class Stream>
  absl::Status FinishWriting(Stream* stream) {
    stream->WritesDone();
    return FromGrpc(stream->Finish());
  }
  template <class Entry, class Stream>
  absl::Status ReadAll(grpc::ClientContext* context, Stream* stream,
                       const std::function<absl::Status(const Entry&)>& visit) {
    Entry entry;
    while (stream->Read(&entry)) {
      auto status = visit(entry);
      if (status.ok()) continue;
      context->TryCancel();
      stream->Finish();
      return status;
    }
    return FromGrpc(stream->Finish());
  }

  const RemoteAddresses addresses_;
  const absl::Duration timeout_;
  std::shared_ptr<grpc::Channel> channel_, admin_channel_;
};

}  // namespace

std::unique_ptr<Backend> MakeRemoteBackend(const RemoteAddresses& addresses, absl::Duration timeout) {
  return std::make_unique<RemoteBackend>(addresses, timeout);
}

}  // namespace waymark
