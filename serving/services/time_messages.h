// Times and durations between protobuf and us. What comes from outside is checked: protobuf's binary form
// lets any number through.
#pragma once
#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"

namespace waymark {

// INVALID_ARGUMENT: outside of years 1 to 9999, or nanos outside of 0..999,999,999.
absl::StatusOr<absl::Time> ReadTimestamp(const google::protobuf::Timestamp& timestamp,
                                         std::string_view field);
// INVALID_ARGUMENT: negative, over 10,000 years, or nanos outside of 0..999,999,999.
absl::StatusOr<absl::Duration> ReadDuration(const google::protobuf::Duration& duration,
                                            std::string_view field);
void SetTimestamp(int64_t microseconds, google::protobuf::Timestamp* timestamp);

}  // namespace waymark
