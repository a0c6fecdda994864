// What text the store takes: valid UTF-8 (protobuf refuses to read anything else), and ids without control
// characters (they appear in logs, resource names and file names).
//
//   CheckId("item.id", "m1")         OK
//   CheckId("item.id", "a\nb")       INVALID_ARGUMENT: item.id is 'a\nb'; it takes ... without control
//   characters
#pragma once
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace waymark {

bool IsUtf8(std::string_view text);
// Escaped and cut to what fits an error message.
std::string Shortened(std::string_view text);

// INVALID_ARGUMENT unless it is 1 to kMaxIdBytes bytes of UTF-8 without control characters.
absl::Status CheckId(const std::string& field, std::string_view id);
// INVALID_ARGUMENT unless it is at most `max_bytes` of UTF-8.
absl::Status CheckText(const std::string& field, std::string_view text, size_t max_bytes);

}  // namespace waymark
