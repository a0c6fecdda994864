#include "store/text_check.h"

#include <cstdint>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "store/ids.h"

namespace waymark {
namespace {

// The number of bytes of the code point that `text` begins with; 0 when it is not UTF-8: cut short, overlong,
// a surrogate, or beyond U+10FFFF (RFC 3629).
size_t CodePoint(std::string_view text, uint32_t& value) {
  const auto lead = static_cast<uint8_t>(text[0]);
  size_t length = 0;
  uint32_t smallest = 0;
  if (lead < 0x80) {
    value = lead;
    return 1;
  }
  if ((lead & 0xE0) == 0xC0) {
    length = 2, smallest = 0x80, value = lead & 0x1F;
  } else if ((lead & 0xF0) == 0xE0) {
    length = 3, smallest = 0x800, value = lead & 0x0F;
  } else if ((lead & 0xF8) == 0xF0) {
    length = 4, smallest = 0x10000, value = lead & 0x07;
  } else {
    return 0;
  }
  if (text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    const auto next = static_cast<uint8_t>(text[i]);
    if ((next & 0xC0) != 0x80) return 0;
    value = (value << 6) | (next & 0x3F);
  }
  if (value < smallest || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return 0;
  return length;
}

bool HasControlCharacter(std::string_view text) {
  uint32_t value = 0;
  while (!text.empty()) {
    text.remove_prefix(CodePoint(text, value));
    if (value < 0x20 || (value >= 0x7F && value <= 0x9F)) return true;
  }
  return false;
}

}  // namespace

bool IsUtf8(std::string_view text) {
  uint32_t value = 0;
  while (!text.empty()) {
    const size_t length = CodePoint(text, value);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string Shortened(std::string_view text) {
  constexpr size_t kShown = 60;
  const bool cut = text.size() > kShown;
  std::string_view shown = text.substr(0, kShown);
  // Not in the middle of a code point.
  while (cut && !shown.empty() && (static_cast<uint8_t>(text[shown.size()]) & 0xC0) == 0x80) {
    shown.remove_suffix(1);
  }
  const absl::string_view view(shown.data(), shown.size());
  std::string out = IsUtf8(shown) ? absl::Utf8SafeCEscape(view) : absl::CHexEscape(view);
  if (cut) absl::StrAppend(&out, "… (", text.size(), " bytes)");
  return out;
}

absl::Status CheckId(const std::string& field, std::string_view id) {
  const char* wrong = nullptr;
  if (id.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, " is empty; it takes 1 to ", kMaxIdBytes, " bytes of UTF-8"));
  }
  if (id.size() > kMaxIdBytes) {
    wrong = "too long";
  } else if (!IsUtf8(id)) {
    wrong = "not UTF-8";
  } else if (HasControlCharacter(id)) {
    wrong = "has a control character";
  } else {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(field, " is '", Shortened(id), "' (", wrong,
                                                 "); it takes 1 to ", kMaxIdBytes,
                                                 " bytes of UTF-8 without control characters"));
}

absl::Status CheckText(const std::string& field, std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes && IsUtf8(text)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, " is '", Shortened(text), "' (",
                                                 text.size() > max_bytes ? "too long" : "not UTF-8",
                                                 "); it takes at most ", max_bytes, " bytes of UTF-8"));
}

}  // namespace waymark
