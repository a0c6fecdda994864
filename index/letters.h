// Text as code points, and back.
//
//   Letters("né")   // U"né"
#pragma once
#include <string>
#include <string_view>

namespace waymark {

// Each byte that is no UTF-8 becomes U+FFFD.
std::u32string Letters(std::string_view utf8);
void AppendUtf8(char32_t letter, std::string* utf8);
// The code point at `at`, which moves behind it.
char32_t ReadLetter(std::string_view utf8, size_t* at);
bool IsDigit(char32_t letter);
inline bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The fewest insertions, deletions, replacements and exchanges of neighbouring letters that make one of the
// other, where no letter is edited twice (optimal string alignment).
int EditDistance(std::u32string_view a, std::u32string_view b);

}  // namespace waymark
