// Cuts text into units, which are what stands together without blanks between: a word, or the parts of a
// compound («wi-fi», «iPhone15», «AB-1234/7»), or a run of Chinese, Japanese or Korean characters as pairs.
//
//   SegmentUnits("Wi-Fi 3.5mm C++", rules, [](const TextUnit& u) { ... });   // wi fi | 3.5 mm | c++
//
// Words are folded (Unicode's NFKC_Casefold, with the dotless i of Turkish); marks stay. What is what:
//   letters       a run of letters and marks; «++» and, behind a single letter, «#» belong to it
//   number        digits, with a point or comma between digits: 3.5, 1,000 (as 1000), 3,5 (as 3.5)
//   compound      such parts with nothing between («15mm»), or one of - & ' ; also / _ . where one of the
//   parts is a
//                 number, and . between single letters («U.S.A.»)
//   elision       «l'» and the like go (by language), and so does the «'s» of English
//   CJK           Han, Hiragana, Katakana, Hangul: each pair of neighbours is a word; a character by itself
//   is one Thai, Lao,    words by ICU's dictionary Khmer, Burmese
#pragma once
#include <cstddef>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "index/language_rules.h"

namespace waymark {

struct UnitPart {
  std::string_view word;  // UTF-8; at most kMaxWordLength code points
  bool number = false;
  size_t begin = 0, end = 0;  // bytes of the text that it was written in
};

struct TextUnit {
  absl::Span<const UnitPart> parts;  // at least one
  bool joins = false;                // the parts, written together, are one word too
  bool has_number = false;
  bool cjk = false;
  absl::Span<const UnitPart> characters;  // of cjk with several: one by one
  size_t begin = 0, end = 0;
};

// The longest compounds that are a word too: in parts, and in bytes.
inline constexpr size_t kMaxJoinedParts = 6, kMaxJoinedBytes = 64;

// What `unit` holds is valid during the call only. Bytes that are no UTF-8 separate words. Thread-safe.
void SegmentUnits(std::string_view utf8, const LanguageRules& rules,
                  absl::FunctionRef<void(const TextUnit& unit)> visit);

}  // namespace waymark
