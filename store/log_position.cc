#include "store/log_position.h"

#include <xxhash.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "store/text_check.h"

namespace waymark {
namespace {

// The first byte of a token's content: its format.
constexpr char kTokenFormat = 1;
constexpr size_t kChecksumBytes = 4;
constexpr size_t kMaxTokenBytes = 64 << 10;

std::string Checksum(std::string_view bytes) {
  const auto hash = static_cast<uint32_t>(XXH3_64bits(bytes.data(), bytes.size()));
  std::string out(kChecksumBytes, '\0');
  for (size_t i = 0; i < kChecksumBytes; ++i) out[i] = static_cast<char>(hash >> (8 * i));
  return out;
}

const LogPosition::Part* FindPart(const LogPosition& position, uint32_t partition) {
  for (const LogPosition::Part& part : position.parts()) {
    if (part.partition() == partition) return &part;
  }
  return nullptr;
}

}  // namespace

LogPosition EmbeddedPosition(uint64_t epoch, LogOffset offset) {
  LogPosition position;
  LogPosition::Part* part = position.add_parts();
  part->set_epoch(epoch);
  part->set_offset(offset);
  return position;
}

absl::StatusOr<LogOffset> EmbeddedOffset(const LogPosition& position, uint64_t epoch) {
  if (position.parts_size() == 0) return 0;  // before all
  if (position.parts_size() != 1 || position.parts(0).partition() != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the log position has ", position.parts_size(),
                     " partitions; this data folder's log is partition 0 alone"));
  }
  if (position.parts(0).epoch() != epoch) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the log position belongs to epoch ", absl::Hex(position.parts(0).epoch()),
        ", this data folder is epoch ", absl::Hex(epoch), ": take a token that this server gave out"));
  }
  return position.parts(0).offset();
}

bool Covers(const LogPosition& a, const LogPosition& b) {
  for (const LogPosition::Part& wanted : b.parts()) {
    if (wanted.offset() == 0) continue;
    const LogPosition::Part* have = FindPart(a, wanted.partition());
    if (have == nullptr || have->epoch() != wanted.epoch() || have->offset() < wanted.offset()) return false;
  }
  return true;
}

std::string EncodeConsistencyToken(const LogPosition& position) {
  std::string bytes(1, kTokenFormat);
  bytes += position.SerializeAsString();
  return absl::WebSafeBase64Escape(bytes + Checksum(bytes));
}

absl::StatusOr<LogPosition> DecodeConsistencyToken(std::string_view token) {
  const absl::Status wrong = absl::InvalidArgumentError(absl::StrCat(
      "consistency_token is '", Shortened(token), "'; it takes a token that a write answered, unchanged"));
  std::string bytes;
  if (token.size() > kMaxTokenBytes ||
      !absl::WebSafeBase64Unescape(absl::string_view(token.data(), token.size()), &bytes))
    return wrong;
  if (bytes.size() < 1 + kChecksumBytes || bytes[0] != kTokenFormat) return wrong;
  const std::string_view content(bytes.data(), bytes.size() - kChecksumBytes);
  if (Checksum(content) != std::string_view(bytes).substr(content.size())) return wrong;
  LogPosition position;
  if (!position.ParseFromArray(content.data() + 1, static_cast<int>(content.size() - 1))) return wrong;
  return position;
}

}  // namespace waymark
