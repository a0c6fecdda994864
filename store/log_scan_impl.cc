#include "store/log_scan_impl.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "store/package/crc32c.h"

namespace waymark {
namespace {

constexpr size_t kBlock = 32768, kHeader = 7, kRecyclableHeader = 11;
// Types of records: whole, first, middle and last part of a write; the same of logs that are written over.
constexpr uint8_t kFull = 1, kFirst = 2, kLast = 4, kRecyclableFull = 5, kRecyclableFirst = 6,
                  kRecyclableLast = 8;

struct LogRecord {
  size_t size = 0;
  bool begins_write = false;
};

std::optional<LogRecord> RecordAt(std::string_view log, size_t at) {
  const size_t left = std::min(kBlock - at % kBlock, log.size() - at);
  if (left < kHeader) return std::nullopt;
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(log[at + i]); };
  const uint8_t type = byte(6);
  if (type < kFull || type > kRecyclableLast) return std::nullopt;
  const size_t header = type > kLast ? kRecyclableHeader : kHeader;
  const size_t size = header + (byte(4) | size_t{byte(5)} << 8);
  if (size > left) return std::nullopt;
  uint32_t checksum = 0;  // little-endian, of all from the type on
  std::memcpy(&checksum, log.data() + at, sizeof checksum);
  if (MaskedCrc32c(log.substr(at + 6, size - 6)) != checksum) return std::nullopt;
  return LogRecord{size,
                   type == kFull || type == kFirst || type == kRecyclableFull || type == kRecyclableFirst};
}

}  // namespace

int64_t CountWritesBehindDamage(std::string_view log) {
  int64_t behind = 0;
  bool damaged = false;
  for (size_t at = 0; at < log.size();) {
    if (kBlock - at % kBlock < kHeader) {  // blocks end in zeros where no header fits
      at += kBlock - at % kBlock;
      continue;
    }
    const auto record = RecordAt(log, at);
    if (!record) {
      damaged = true;
      ++at;
      continue;
    }
    behind += damaged && record->begins_write;
    at += record->size;
  }
  return behind;
}

absl::StatusOr<int64_t> CountWritesBehindDamage(const std::filesystem::path& folder) {
  int64_t behind = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".log") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    if (!file) return absl::UnavailableError(absl::StrCat("cannot read ", entry.path().string()));
    behind += CountWritesBehindDamage(std::string_view(bytes.view()));
  }
  if (error) return absl::UnavailableError(absl::StrCat(folder.string(), ": ", error.message()));
  return behind;
}

}  // namespace waymark
