// An HTTP request into the message of its method, and messages into JSON.
//
// JSON is that of protobuf, with the names of the .proto files (page_size); pageSize is taken too.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "google/protobuf/message.h"
#include "serving/http/http_routes.h"

namespace waymark {

// What the path says wins over the body. INVALID_ARGUMENT names the field.
absl::StatusOr<std::unique_ptr<google::protobuf::Message>> ReadRequest(
    const HttpMatch& match, const google::protobuf::Message& prototype, std::string_view query,
    const std::string& body);
absl::StatusOr<std::string> WriteJson(const google::protobuf::Message& message);

// google.rpc.Code as HTTP says it, by the table of google/rpc/code.proto.
int HttpStatusOf(absl::StatusCode code);
// {"error": {"code": 404, "message": "...", "status": "NOT_FOUND", "details": [...]}}. `http_status` 0: that
// of the code.
std::string ErrorJson(const absl::Status& status, int http_status = 0);

}  // namespace waymark
