// How far a reader of the log has come. Inside: a vector of (partition, epoch, offset), with exactly one
// partition when embedded. Outside: an opaque consistency token.
#pragma once
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "store/ids.h"
#include "waymark/storage/records.pb.h"

namespace waymark {

using LogPosition = storage::LogPosition;

// The embedded log: partition 0 of this data folder's epoch.
LogPosition EmbeddedPosition(uint64_t epoch, LogOffset offset);
// The offset in the embedded partition; INVALID_ARGUMENT when `position` is of another epoch or partition.
absl::StatusOr<LogOffset> EmbeddedOffset(const LogPosition& position, uint64_t epoch);

// Whether a reader that has come to `a` has seen all that `b` has. Partitions that `a` lacks count as not
// seen.
bool Covers(const LogPosition& a, const LogPosition& b);

// URL-safe text; INVALID_ARGUMENT for anything that EncodeToken did not make.
std::string EncodeConsistencyToken(const LogPosition& position);
absl::StatusOr<LogPosition> DecodeConsistencyToken(std::string_view token);

}  // namespace waymark
