#include "catalog/time_spans.h"

#include "absl/strings/ascii.h"
#include "absl/time/civil_time.h"

namespace waymark {
namespace {

absl::CivilSecond BeginOf(TimeUnit unit, absl::CivilSecond at) {
  switch (unit) {
    case TimeUnit::kYear:
      return absl::CivilSecond(absl::CivilYear(at));
    case TimeUnit::kMonth:
      return absl::CivilSecond(absl::CivilMonth(at));
    case TimeUnit::kWeek:
      // The Monday on or before it.
      return absl::CivilSecond(absl::PrevWeekday(absl::CivilDay(at) + 1, absl::Weekday::monday));
    case TimeUnit::kDay:
      return absl::CivilSecond(absl::CivilDay(at));
    case TimeUnit::kHour:
      break;
  }
  return absl::CivilSecond(absl::CivilHour(at));
}

absl::CivilSecond EndOf(TimeUnit unit, absl::CivilSecond begin) {
  switch (unit) {
    case TimeUnit::kYear:
      return absl::CivilSecond(absl::CivilYear(begin) + 1);
    case TimeUnit::kMonth:
      return absl::CivilSecond(absl::CivilMonth(begin) + 1);
    case TimeUnit::kWeek:
      return absl::CivilSecond(absl::CivilDay(begin) + 7);
    case TimeUnit::kDay:
      return absl::CivilSecond(absl::CivilDay(begin) + 1);
    case TimeUnit::kHour:
      break;
  }
  return absl::CivilSecond(absl::CivilHour(begin) + 1);
}

}  // namespace

int64_t TimeSpans::Begin(int64_t time_us) const {
  return absl::ToUnixMicros(
      absl::FromCivil(BeginOf(unit_, absl::ToCivilSecond(absl::FromUnixMicros(time_us), zone_)), zone_));
}

int64_t TimeSpans::End(int64_t begin_us) const {
  return absl::ToUnixMicros(
      absl::FromCivil(EndOf(unit_, absl::ToCivilSecond(absl::FromUnixMicros(begin_us), zone_)), zone_));
}

std::string TimeSpans::Text(int64_t time_us) const {
  return absl::FormatTime(absl::RFC3339_sec, absl::FromUnixMicros(time_us), zone_);
}

std::optional<absl::TimeZone> ParseUtcOffset(std::string_view text) {
  if (text.empty() || text == "Z" || text == "z") return absl::UTCTimeZone();
  const bool shaped = text.size() == 6 && (text[0] == '+' || text[0] == '-') &&
                      absl::ascii_isdigit(text[1]) && absl::ascii_isdigit(text[2]) && text[3] == ':' &&
                      absl::ascii_isdigit(text[4]) && absl::ascii_isdigit(text[5]);
  if (!shaped) return std::nullopt;
  const int hours = (text[1] - '0') * 10 + (text[2] - '0'), minutes = (text[4] - '0') * 10 + (text[5] - '0');
  if (minutes > 59 || hours * 60 + minutes > 18 * 60) return std::nullopt;
  return absl::FixedTimeZone((text[0] == '-' ? -60 : 60) * (hours * 60 + minutes));
}

}  // namespace waymark
