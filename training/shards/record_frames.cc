#include "training/shards/record_frames.h"

#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "store/package/crc32c.h"

namespace waymark {
namespace {

static_assert(std::endian::native == std::endian::little, "records are written as they lie in memory");
constexpr size_t kHead = 12, kTail = 4;

template <typename T>
T ReadNumber(std::string_view bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

template <typename T>
void AppendNumber(T value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(T));
}

}  // namespace

void AppendRecord(std::string_view payload, std::string* file) {
  const uint64_t length = payload.size();
  AppendNumber(length, file);
  AppendNumber(MaskedCrc32c({reinterpret_cast<const char*>(&length), sizeof(length)}), file);
  file->append(payload);
  AppendNumber(MaskedCrc32c(payload), file);
}

bool RecordFrames::Damaged(std::string_view what) {
  status_ = absl::DataLossError(absl::StrCat("record ", records_, " at byte ", at_, " ", std::string(what)));
  return false;
}

bool RecordFrames::Next(std::string_view* payload) {
  if (!status_.ok() || at_ == file_.size()) return false;
  const std::string_view rest = file_.substr(at_);
  if (rest.size() < kHead) return Damaged("is cut off");
  if (ReadNumber<uint32_t>(rest, 8) != MaskedCrc32c(rest.substr(0, 8))) {
    return Damaged("has a length that its checksum denies");
  }
  const uint64_t length = ReadNumber<uint64_t>(rest, 0);
  if (length > rest.size() - kHead || rest.size() - kHead - length < kTail) return Damaged("is cut off");
  *payload = rest.substr(kHead, length);
  if (ReadNumber<uint32_t>(rest, kHead + length) != MaskedCrc32c(*payload)) {
    return Damaged("does not match its checksum");
  }
  at_ += kHead + length + kTail;
  ++records_;
  return true;
}

}  // namespace waymark
