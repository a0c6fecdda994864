// The unary methods of the API by full name, each with its one implementation. gRPC services and the HTTP
// gateway both call through it.
//
//   MethodRegistry registry;
//   registry.Add<v1::GetItemRequest, v1::Item>("waymark.v1.CatalogService.GetItem", {}, get_item);
//   registry.Find("waymark.v1.CatalogService.GetItem")->handler(request, &response, context);
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "serving/call_context.h"

namespace waymark {

using UnaryHandler = std::function<absl::Status(const google::protobuf::Message& request,
                                                google::protobuf::Message* response, const CallContext&)>;

// Where a call runs. Requests compute; writes mostly wait for the disk, and many that wait together share one
// fsync; long work has no deadline unless the caller sets one.
enum class Lane { kRequest, kWrite, kBulk };

struct MethodOptions {
  size_t max_request_bytes = size_t{1} << 20;  // of the protobuf message
  Lane lane = Lane::kRequest;
  absl::Duration default_deadline = {};  // at least this for calls that name none
};
inline constexpr absl::Duration kBatchDeadline =
    absl::Seconds(30);  // thousands of entries, durable when answered
inline constexpr MethodOptions kWriting = {.lane = Lane::kWrite};

struct Method {
  const google::protobuf::MethodDescriptor* descriptor = nullptr;
  const google::protobuf::Message* request_prototype = nullptr;
  const google::protobuf::Message* response_prototype = nullptr;
  MethodOptions options;
  UnaryHandler handler;
};

// Filled at start, read by many threads after.
class MethodRegistry {
 public:
  template <class Request, class Response>
  void Add(std::string_view full_name, const MethodOptions& options,
           std::function<absl::Status(const Request&, Response*, const CallContext&)> handler) {
    Put(full_name, options, &Request::default_instance(), &Response::default_instance(),
        [handler = std::move(handler)](const google::protobuf::Message& request,
                                       google::protobuf::Message* response, const CallContext& context) {
          return handler(static_cast<const Request&>(request), static_cast<Response*>(response), context);
        });
  }

  // Null: no such method.
  const Method* Find(std::string_view full_name) const;
  const std::map<std::string, Method, std::less<>>& methods() const { return methods_; }
  // Methods that a service declares as unary but that have no handler here: a mistake of ours.
  std::vector<std::string> Missing(const google::protobuf::ServiceDescriptor& service) const;

 private:
  void Put(std::string_view full_name, const MethodOptions& options, const google::protobuf::Message* request,
           const google::protobuf::Message* response, UnaryHandler handler);
  std::map<std::string, Method, std::less<>> methods_;
};

}  // namespace waymark
