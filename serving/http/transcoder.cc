#include "serving/http/transcoder.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "google/protobuf/util/json_util.h"
#include "nlohmann/json.hpp"
#include "serving/http/json_check.h"
#include "serving/http/query_parameters.h"
#include "serving/status_details.h"
#include "store/text_check.h"

namespace waymark {
namespace {

using google::protobuf::Message;

bool IsBlank(const std::string& body) {
  const absl::string_view text = absl::StripAsciiWhitespace(body);
  return text.empty() || text == "{}";
}

// Protobuf says of a wrong value: invalid value "x" for type TYPE_INT32. Here errors say what a field takes.
std::string InOurWords(const std::string& why) {
  constexpr absl::string_view kStart = "invalid value ", kType = " for type ";
  const size_t type_at = why.rfind(kType.data());
  if (!absl::StartsWith(why, kStart) || type_at == std::string::npos) return why;
  const std::string held = why.substr(kStart.size(), type_at - kStart.size());
  const std::string type = why.substr(type_at + kType.size());
  if (absl::EndsWith(type, "google.protobuf.Timestamp")) {
    return "is no time; it takes RFC 3339 text, as \"1997-12-04T15:55:49Z\"";
  }
  if (absl::EndsWith(type, "google.protobuf.Duration")) {
    return "is no duration; it takes seconds as text, as \"3.5s\"";
  }
  std::string takes;
  if (absl::EndsWith(type, "INT32")) takes = "a whole number of 32 bits";
  if (absl::EndsWith(type, "INT64")) takes = "a whole number of 64 bits";
  if (type == "TYPE_DOUBLE" || type == "TYPE_FLOAT") takes = "a number";
  if (type == "TYPE_BOOL") takes = "true or false";
  if (type == "TYPE_STRING") takes = "text";
  if (const auto* named = google::protobuf::DescriptorPool::generated_pool()->FindEnumTypeByName(
          std::string(absl::StripPrefix(type, "type.googleapis.com/")))) {
    for (int i = 0; i < named->value_count(); ++i) {
      absl::StrAppend(&takes, i == 0 ? "one of " : ", ", named->value(i)->name());
    }
  }
  return takes.empty() ? why : absl::StrCat("is ", held, "; it takes ", takes);
}

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
      return InvalidField(why.substr(1, end - 1), InOurWords(why.substr(end + 3)));
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
  if (!IsUtf8(value)) {
    return InvalidField(field_path, absl::StrCat("is '", Shortened(value),
                                                 "' once percent-decoded, which is not valid UTF-8; it takes "
                                                 "UTF-8 text"));
  }
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
    // An empty object says as little as no body, and is what many clients send with every POST.
    if (match.route->verb == "POST" ? !IsBlank(body) : !body.empty()) {
      return InvalidField("body",
                          absl::StrCat("is not taken by ", match.route->verb, "; use query parameters"));
    }
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
