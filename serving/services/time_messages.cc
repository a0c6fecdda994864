#include "serving/services/time_messages.h"

#include "absl/strings/str_cat.h"
#include "serving/status_details.h"

namespace waymark {
namespace {

// google/protobuf/timestamp.proto and duration.proto give these bounds.
constexpr int64_t kFirstSecond = -62135596800;  // 0001-01-01T00:00:00Z
constexpr int64_t kLastSecond = 253402300799;   // 9999-12-31T23:59:59Z
constexpr int64_t kLongestSeconds = 315576000000;
constexpr int32_t kNanosPerSecond = 1000000000;
constexpr int64_t kMicrosPerSecond = 1000000;

}  // namespace

absl::StatusOr<absl::Time> ReadTimestamp(const google::protobuf::Timestamp& timestamp,
                                         std::string_view field) {
  if (timestamp.seconds() < kFirstSecond || timestamp.seconds() > kLastSecond || timestamp.nanos() < 0 ||
      timestamp.nanos() >= kNanosPerSecond) {
    return InvalidField(field, absl::StrCat("has seconds ", timestamp.seconds(), " and nanos ",
                                            timestamp.nanos(), ", which is no time of the years 1 to 9999"));
  }
  return absl::FromUnixSeconds(timestamp.seconds()) + absl::Nanoseconds(timestamp.nanos());
}

absl::StatusOr<absl::Duration> ReadDuration(const google::protobuf::Duration& duration,
                                            std::string_view field) {
  if (duration.seconds() < 0 || duration.seconds() > kLongestSeconds || duration.nanos() < 0 ||
      duration.nanos() >= kNanosPerSecond) {
    return InvalidField(field, absl::StrCat("has seconds ", duration.seconds(), " and nanos ",
                                            duration.nanos(), "; it takes 0 or more, up to 10,000 years"));
  }
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

void SetTimestamp(int64_t microseconds, google::protobuf::Timestamp* timestamp) {
  int64_t seconds = microseconds / kMicrosPerSecond;
  int64_t rest = microseconds % kMicrosPerSecond;
  if (rest < 0) {
    --seconds;
    rest += kMicrosPerSecond;
  }
  timestamp->set_seconds(seconds);
  timestamp->set_nanos(static_cast<int32_t>(rest * 1000));
}

}  // namespace waymark
