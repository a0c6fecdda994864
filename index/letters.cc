#include "index/letters.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <vector>

namespace waymark {

char32_t ReadLetter(std::string_view utf8, size_t* at) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(utf8.data());
  auto i = static_cast<int32_t>(*at);
  UChar32 letter = 0;
  U8_NEXT_OR_FFFD(bytes, i, static_cast<int32_t>(utf8.size()), letter);
  *at = static_cast<size_t>(i);
  return static_cast<char32_t>(letter);
}

std::u32string Letters(std::string_view utf8) {
  std::u32string letters;
  for (size_t at = 0; at < utf8.size();) letters.push_back(ReadLetter(utf8, &at));
  return letters;
}

void AppendUtf8(char32_t letter, std::string* utf8) {
  uint8_t bytes[U8_MAX_LENGTH];
  int32_t length = 0;
  U8_APPEND_UNSAFE(bytes, length, static_cast<UChar32>(letter));
  utf8->append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length));
}

bool IsDigit(char32_t letter) { return u_isdigit(static_cast<UChar32>(letter)); }

int EditDistance(std::u32string_view a, std::u32string_view b) {
  std::vector<int> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, above);
    std::swap(above, row);
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

}  // namespace waymark
