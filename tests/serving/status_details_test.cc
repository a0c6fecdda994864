#include "serving/status_details.h"

#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "nlohmann/json.hpp"
#include "serving/http/transcoder.h"
#include "serving/rpc/grpc_status.h"
#include "tests/support/catch.h"

using namespace waymark;

TEST_CASE("The field of an error is found in the forms that folders write") {
  struct Row {
    const char *message, *field;
  };
  const Row rows[] = {
      {"page_size: is -1; it takes 0 or more", "page_size"},
      {"items[3].fields.price: is text", "items[3].fields.price"},
      {"filter, column 9: field 'yaer' is not in the schema; did you mean 'year'?", "filter"},
      {"event.value is nan; it takes a finite number", "event.value"},
      {"item.fields has 2000000 bytes; it takes at most 1048576", "item.fields"},
      {"the item does not fit: field 'year' holds text", "year"},
      {"nothing is known of it", ""},
      {"The server: it is gone", ""},
      {"", ""},
      {"field 'never closed", ""},
  };
  for (const Row& row : rows) {
    INFO(row.message);
    CHECK(FieldOfMessage(row.message) == row.field);
  }
}

TEST_CASE("INVALID_ARGUMENT carries ErrorInfo and the field violation") {
  const google::rpc::Status rpc =
      ToRpcStatus(InvalidField("query", "has 100000 bytes; at most 10240 are taken"));
  CHECK(rpc.code() == 3);  // google/rpc/code.proto
  REQUIRE(rpc.details_size() == 2);
  google::rpc::ErrorInfo info;
  REQUIRE(rpc.details(0).UnpackTo(&info));
  CHECK(info.domain() == "waymark");
  CHECK(info.reason() == "INVALID_FIELD");
  google::rpc::BadRequest bad;
  REQUIRE(rpc.details(1).UnpackTo(&bad));
  REQUIRE(bad.field_violations_size() == 1);
  CHECK(bad.field_violations(0).field() == "query");
}

TEST_CASE("RetryInfo tells when to come back") {
  const google::rpc::Status rpc = ToRpcStatus(
      WithRetry(WithReason(absl::ResourceExhaustedError("busy"), "SERVER_BUSY"), absl::Milliseconds(1500)));
  REQUIRE(rpc.details_size() == 2);
  google::rpc::RetryInfo retry;
  REQUIRE(rpc.details(1).UnpackTo(&retry));
  CHECK(retry.retry_delay().seconds() == 1);
  CHECK(retry.retry_delay().nanos() == 500000000);
  // A size limit is not a matter of time.
  CHECK(ToRpcStatus(absl::ResourceExhaustedError("too large")).details_size() == 1);
}

TEST_CASE("Long messages are cut at a whole character") {
  std::string euros;
  for (int i = 0; i < 1000; ++i) euros += "€";
  const google::rpc::Status rpc = ToRpcStatus(absl::NotFoundError(euros));
  CHECK(rpc.message().size() == 1503);  // 500 characters of 3 bytes, and three dots
  CHECK(rpc.message().substr(1497) == "€...");
  CHECK(ToGrpcStatus(InvalidField("query", euros)).error_details().size() < 8000);
}

TEST_CASE("HTTP statuses follow google/rpc/code.proto") {
  const std::pair<absl::StatusCode, int> rows[] = {
      {absl::StatusCode::kOk, 200},
      {absl::StatusCode::kCancelled, 499},
      {absl::StatusCode::kUnknown, 500},
      {absl::StatusCode::kInvalidArgument, 400},
      {absl::StatusCode::kDeadlineExceeded, 504},
      {absl::StatusCode::kNotFound, 404},
      {absl::StatusCode::kAlreadyExists, 409},
      {absl::StatusCode::kPermissionDenied, 403},
      {absl::StatusCode::kUnauthenticated, 401},
      {absl::StatusCode::kResourceExhausted, 429},
      {absl::StatusCode::kFailedPrecondition, 400},
      {absl::StatusCode::kAborted, 409},
      {absl::StatusCode::kOutOfRange, 400},
      {absl::StatusCode::kUnimplemented, 501},
      {absl::StatusCode::kInternal, 500},
      {absl::StatusCode::kUnavailable, 503},
      {absl::StatusCode::kDataLoss, 500},
  };
  for (const auto& [code, http] : rows) CHECK(HttpStatusOf(code) == http);
}

TEST_CASE("Errors in JSON have the form of Google's APIs") {
  const auto json = nlohmann::json::parse(ErrorJson(InvalidField("page_size", "is -1; it takes 0 or more")));
  CHECK(json["error"]["code"] == 400);
  CHECK(json["error"]["status"] == "INVALID_ARGUMENT");
  CHECK(json["error"]["message"] == "page_size: is -1; it takes 0 or more");
  REQUIRE(json["error"]["details"].size() == 2);
  CHECK(json["error"]["details"][0]["@type"] == "type.googleapis.com/google.rpc.ErrorInfo");
  CHECK(json["error"]["details"][1]["field_violations"][0]["field"] == "page_size");
}
