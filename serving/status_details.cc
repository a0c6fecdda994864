#include "serving/status_details.h"

#include <cctype>
#include <optional>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"

namespace waymark {
namespace {

constexpr char kReasonPayload[] = "waymark/reason";
constexpr char kRetryPayload[] = "waymark/retry_ms";
constexpr size_t kLongestMessage = 1500;
constexpr char kDomain[] = "waymark";

std::optional<std::string> Payload(const absl::Status& status, const char* url) {
  const absl::optional<absl::Cord> payload = status.GetPayload(url);
  if (!payload) return std::nullopt;
  return std::string(*payload);
}

bool IsFieldCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '[' || c == ']' ||
         c == '-';
}

// "page_size: ...", "items[3].fields.price: ...", "filter, column 9: ...", "event.value is nan; it takes
// ...".
std::string LeadingField(std::string_view message) {
  size_t end = 0;
  while (end < message.size() && IsFieldCharacter(message[end])) ++end;
  if (end == 0 || end >= message.size() || std::islower(static_cast<unsigned char>(message[0])) == 0)
    return "";
  const std::string_view rest = message.substr(end);
  const bool says_value = (rest.starts_with(" is ") || rest.starts_with(" has ")) &&
                          rest.find("; it takes") != std::string_view::npos;
  const bool named = says_value || rest.starts_with(": ") || rest.starts_with(", column ");
  return named ? std::string(message.substr(0, end)) : "";
}

std::string_view DefaultReason(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kCancelled:
      return "CALL_CANCELLED";
    case absl::StatusCode::kInvalidArgument:
      return "INVALID_FIELD";
    case absl::StatusCode::kDeadlineExceeded:
      return "DEADLINE_EXCEEDED";
    case absl::StatusCode::kNotFound:
      return "RESOURCE_NOT_FOUND";
    case absl::StatusCode::kAlreadyExists:
      return "RESOURCE_EXISTS";
    case absl::StatusCode::kPermissionDenied:
      return "PERMISSION_DENIED";
    case absl::StatusCode::kUnauthenticated:
      return "UNAUTHENTICATED";
    case absl::StatusCode::kResourceExhausted:
      return "LIMIT_REACHED";
    case absl::StatusCode::kFailedPrecondition:
      return "PRECONDITION_FAILED";
    case absl::StatusCode::kAborted:
      return "VERSION_CONFLICT";
    case absl::StatusCode::kOutOfRange:
      return "OUT_OF_RANGE";
    case absl::StatusCode::kUnimplemented:
      return "UNIMPLEMENTED";
    case absl::StatusCode::kUnavailable:
      return "UNAVAILABLE";
    case absl::StatusCode::kDataLoss:
      return "DATA_LOSS";
    default:
      return "INTERNAL";
  }
}

// Cuts at a whole UTF-8 character.
std::string ShortMessage(std::string_view message) {
  if (message.size() <= kLongestMessage) return std::string(message);
  size_t end = kLongestMessage;
  while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0) == 0x80) --end;
  return std::string(message.substr(0, end)) + "...";
}

void AddRetryInfo(const absl::Status& status, google::rpc::Status* rpc) {
  int64_t milliseconds = status.code() == absl::StatusCode::kUnavailable ? 1000 : -1;
  if (const auto given = Payload(status, kRetryPayload)) {
    if (!absl::SimpleAtoi(*given, &milliseconds)) milliseconds = -1;
  }
  if (milliseconds < 0) return;
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(milliseconds / 1000);
  retry.mutable_retry_delay()->set_nanos(static_cast<int32_t>(milliseconds % 1000) * 1000000);
  rpc->add_details()->PackFrom(retry);
}

}  // namespace

absl::Status InvalidField(std::string_view field, std::string_view message) {
  return absl::InvalidArgumentError(std::string(field) + ": " + std::string(message));
}

absl::Status WithReason(absl::Status status, std::string_view reason) {
  status.SetPayload(kReasonPayload, absl::Cord(std::string(reason)));
  return status;
}

absl::Status WithRetry(absl::Status status, absl::Duration delay) {
  status.SetPayload(kRetryPayload, absl::Cord(absl::StrCat(absl::ToInt64Milliseconds(delay))));
  return status;
}

std::string FieldOfMessage(std::string_view message) {
  if (std::string field = LeadingField(message); !field.empty()) return field;
  constexpr std::string_view kMark = "field '";
  const size_t start = message.find(kMark);
  if (start == std::string_view::npos) return "";
  const std::string_view rest = message.substr(start + kMark.size());
  const size_t end = rest.find('\'');
  return end == std::string_view::npos ? "" : std::string(rest.substr(0, end));
}

std::string ReasonOf(const absl::Status& status) {
  if (auto reason = Payload(status, kReasonPayload)) return *reason;
  return std::string(DefaultReason(status.code()));
}

google::rpc::Status ToRpcStatus(const absl::Status& status) {
  google::rpc::Status rpc;
  rpc.set_code(static_cast<int>(status.code()));
  if (status.ok()) return rpc;
  rpc.set_message(ShortMessage(std::string_view(status.message().data(), status.message().size())));
  google::rpc::ErrorInfo info;
  info.set_reason(ReasonOf(status));
  info.set_domain(kDomain);
  rpc.add_details()->PackFrom(info);
  if (status.code() == absl::StatusCode::kInvalidArgument) {
    if (const std::string field = FieldOfMessage(rpc.message()); !field.empty()) {
      google::rpc::BadRequest bad;
      auto* violation = bad.add_field_violations();
      violation->set_field(field);
      violation->set_description(rpc.message());
      rpc.add_details()->PackFrom(bad);
    }
  }
  AddRetryInfo(status, &rpc);
  return rpc;
}

}  // namespace waymark
