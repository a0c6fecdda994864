// Spans of the calendar that time histograms count by: years, months, weeks from Monday on, days and hours,
// by a clock that stands a fixed time off UTC.
//
//   TimeSpans spans(TimeUnit::kMonth, absl::FixedTimeZone(2 * 3600));
//   spans.Begin(absl::ToUnixMicros(now));   // 2026-12-01T00:00:00+02:00, in microseconds
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace waymark {

enum class TimeUnit { kYear, kMonth, kWeek, kDay, kHour };

class TimeSpans {
 public:
  TimeSpans(TimeUnit unit, absl::TimeZone zone) : unit_(unit), zone_(zone) {}
  // Of the span that holds this time: microseconds since 1970, both.
  int64_t Begin(int64_t time_us) const;
  // Of the span that begins there.
  int64_t End(int64_t begin_us) const;
  // RFC 3339 by that clock.
  std::string Text(int64_t time_us) const;

 private:
  TimeUnit unit_;
  absl::TimeZone zone_;
};

// "Z", "", "+02:00", "-05:30". None: no such offset, or more than 18 hours.
std::optional<absl::TimeZone> ParseUtcOffset(std::string_view text);

}  // namespace waymark
