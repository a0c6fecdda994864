// Times in rows: RFC 3339, or seconds or milliseconds since 1970 as a number or as text.
#pragma once
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "google/protobuf/struct.pb.h"

namespace waymark {

// A number from 10^11 on is milliseconds (10^11 seconds are the year 5138; 10^11 milliseconds are March
// 1973). INVALID_ARGUMENT: neither form, or a number that is no time before the year 10000.
absl::StatusOr<absl::Time> ParseRowTime(absl::string_view text);
absl::StatusOr<absl::Time> ParseRowTime(const google::protobuf::Value& value);

// RFC 3339 in UTC, with as many digits of a second as it takes.
std::string FormatRowTime(absl::Time time);

}  // namespace waymark
