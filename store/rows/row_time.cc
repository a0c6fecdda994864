#include "store/rows/row_time.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "store/rows/cell_type.h"
#include "store/rows/json_struct.h"
#include "store/rows/utf8.h"

namespace waymark {

namespace {

constexpr double kFirstMilliseconds = 1e11;
constexpr double kLastMilliseconds = 253402300800e3;  // the year 10000

absl::Status NoTime(absl::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("holds ", Quoted(text),
                   ", which is no time; RFC 3339 (1997-12-04T15:55:49Z), epoch seconds or milliseconds are"));
}

absl::StatusOr<absl::Time> FromNumber(double number, absl::string_view text) {
  if (!std::isfinite(number) || std::abs(number) >= kLastMilliseconds) return NoTime(text);
  const bool milliseconds = std::abs(number) >= kFirstMilliseconds;
  // Microseconds are what the store keeps; rounding here keeps .1 seconds at 100000 of them.
  return absl::FromUnixMicros(std::llround(number * (milliseconds ? 1e3 : 1e6)));
}

}  // namespace

absl::StatusOr<absl::Time> ParseRowTime(absl::string_view text) {
  double number;
  if (IsJsonNumber(text) && absl::SimpleAtod(text, &number)) return FromNumber(number, text);
  absl::Time time;
  std::string error;
  // A date alone, and a time without a zone, are UTC.
  for (const char* format :
       {absl::RFC3339_full, "%Y-%m-%d%ET%H:%M:%E*S", "%Y-%m-%d %H:%M:%E*S", "%Y-%m-%d"}) {
    if (absl::ParseTime(format, text, &time, &error) && time != absl::InfiniteFuture() &&
        time != absl::InfinitePast()) {
      return time;
    }
  }
  return NoTime(text);
}

absl::StatusOr<absl::Time> ParseRowTime(const google::protobuf::Value& value) {
  if (value.has_string_value()) return ParseRowTime(value.string_value());
  std::string text;
  AppendJson(value, &text);
  if (value.has_number_value()) return FromNumber(value.number_value(), text);
  return NoTime(text);
}

std::string FormatRowTime(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d%ET%H:%M:%E*SZ", time, absl::UTCTimeZone());
}

}  // namespace waymark
