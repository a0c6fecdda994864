#include "store/rows/utf8.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace waymark {

size_t FindInvalidUtf8(absl::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const unsigned char first = text[at];
    if (first < 0x80) {
      ++at;
      continue;
    }
    // Length of the sequence, and what its second byte may be (table 3-7 of the Unicode standard).
    size_t length = 0;
    unsigned char low = 0x80, high = 0xBF;
    if (first >= 0xC2 && first <= 0xDF) {
      length = 2;
    } else if (first >= 0xE0 && first <= 0xEF) {
      length = 3;
      if (first == 0xE0) low = 0xA0;
      if (first == 0xED) high = 0x9F;
    } else if (first >= 0xF0 && first <= 0xF4) {
      length = 4;
      if (first == 0xF0) low = 0x90;
      if (first == 0xF4) high = 0x8F;
    }
    if (length == 0 || at + length > text.size()) return at;
    for (size_t i = 1; i < length; ++i) {
      const unsigned char next = text[at + i];
      if (next < low || next > high) return at;
      low = 0x80;
      high = 0xBF;
    }
    at += length;
  }
  return absl::string_view::npos;
}

std::string Quoted(absl::string_view text, size_t max_bytes) {
  absl::string_view shown = text.substr(0, max_bytes);
  if (shown.size() < text.size()) {
    size_t cut = max_bytes;  // not in the middle of a character
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
    if (cut > 0) shown = text.substr(0, cut);
  }
  const std::string escaped = FindInvalidUtf8(shown) == absl::string_view::npos
                                  ? absl::Utf8SafeCHexEscape(shown)
                                  : absl::CHexEscape(shown);
  if (shown.size() == text.size()) return absl::StrCat("'", escaped, "'");
  return absl::StrCat("'", escaped, "...' (", text.size(), " bytes)");
}

}  // namespace waymark
