#include "serving/http/transcoder.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/util/json_util.h"
#include "nlohmann/json.hpp"
#include "serving/http/json_check.h"
#include "serving/http/query_parameters.h"
#include "serving/status_details.h"

namespace waymark {
namespace {

using google::protobuf::Message;

absl::Status ReadBody(const std::string& body, Message* message) {
  auto masks = CheckJson(body, *message->GetDescriptor());
  if (!masks.ok()) return masks.status();
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = false;
  const auto read = google::protobuf::util::JsonStringToMessage(body, message, options);
  if (!read.ok()) {
    // "(items[0].id): invalid value ...": the path comes first, as everywhere here.
    std::string why(read.message().data(), read.message().size());
    const size_t end = why.find("): ");
    if (why.starts_with('(') && end != std::string::npos)
      return InvalidField(why.substr(1, end - 1), why.substr(end + 3));
    return InvalidField("body", why);
  }
  ApplyMasks(*masks, message);
  return absl::OkStatus();
}

absl::Status ReadQuery(std::string_view query, Message* message) {
  auto parameters = ParseQuery(query);
  if (!parameters.ok()) return parameters.status();
  for (const auto& [name, value] : *parameters) {
    if (auto status = SetField(message, name, value); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// The path's fields may have come by body or query too: there they must not be added to.
absl::Status SetPathField(Message* message, const std::string& field_path, const std::string& value) {
  if (const auto* field = message->GetDescriptor()->FindFieldByName(field_path)) {
    message->GetReflection()->ClearField(message, field);
  }
  return SetField(message, field_path, value);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Message>> ReadRequest(const HttpMatch& match, const Message& prototype,
                                                     std::string_view query, const std::string& body) {
  std::unique_ptr<Message> message(prototype.New());
  const std::string& part = match.route->body;
  if (part.empty()) {
    if (!body.empty())
      return InvalidField("body",
                          absl::StrCat("is not taken by ", match.route->verb, "; use query parameters"));
    if (auto status = ReadQuery(query, message.get()); !status.ok()) return status;
  } else {
    Message* target = message.get();
    if (part != "*") {
      const auto* field = message->GetDescriptor()->FindFieldByName(part);
      if (field == nullptr || field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE ||
          field->is_repeated()) {
        return absl::InternalError(
            absl::StrCat(match.route->method->full_name(), ": body '", part, "' is no message"));
      }
      target = message->GetReflection()->MutableMessage(message.get(), field);
    }
    // No body is an empty message, so that calls without fields need none.
    if (!body.empty()) {
      if (auto status = ReadBody(body, target); !status.ok()) return status;
    }
    if (part != "*") {
      if (auto status = ReadQuery(query, message.get()); !status.ok()) return status;
    } else if (!query.empty()) {
      return InvalidField("query string", "is not taken here; all fields go into the body");
    }
  }
  for (const auto& [field, value] : match.variables) {
    if (auto status = SetPathField(message.get(), field, value); !status.ok()) return status;
  }
  return message;
}

absl::StatusOr<std::string> WriteJson(const Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto written = google::protobuf::util::MessageToJsonString(message, &json, options);
  if (written.ok()) return json;
  return absl::InternalError(absl::StrCat("the answer has no JSON form: ",
                                          std::string(written.message().data(), written.message().size())));
}

int HttpStatusOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return 200;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kAborted:
      return 409;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kCancelled:
      return 499;
    case absl::StatusCode::kUnimplemented:
      return 501;
    case absl::StatusCode::kUnavailable:
      return 503;
    case absl::StatusCode::kDeadlineExceeded:
      return 504;
    default:
      return 500;
  }
}

std::string ErrorJson(const absl::Status& status, int http_status) {
  const google::rpc::Status rpc = ToRpcStatus(status);
  nlohmann::ordered_json error;
  error["code"] = http_status != 0 ? http_status : HttpStatusOf(status.code());
  error["message"] = rpc.message();
  error["status"] = absl::StatusCodeToString(status.code());
  error["details"] = nlohmann::ordered_json::array();
  for (const auto& detail : rpc.details()) {
    auto json = WriteJson(detail);
    if (json.ok())
      error["details"].push_back(nlohmann::ordered_json::parse(*json, nullptr, /*allow_exceptions=*/false));
  }
  return nlohmann::ordered_json{{"error", std::move(error)}}.dump(
      -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace waymark
