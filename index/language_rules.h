// What a language wants of the standard analysis beside stems and stop words: short words that are written
// onto the next one with an apostrophe (elision), letters that are letters of their own and keep their marks,
// and what people type for these where their keyboard has none.
//
//   const LanguageRules& german = LanguageRules::Of("german");
//   FoldMarks("müller", german);     // "muller": as who has no ü may type it,
//   ExpandMarks("müller", german);   // "mueller": or so
#pragma once
#include <string>
#include <string_view>

#include "absl/types/span.h"

namespace waymark {

struct LanguageRules {
  std::string_view language;
  absl::Span<const std::string_view> elided;  // case-folded, without their apostrophe
  std::u32string_view own_letters;            // that keep their marks
  bool two_letters = false;                   // å, ä, æ, ø, ö and ü may be typed as two letters
  bool turkish = false;                       // I is the capital of ı, and İ of i
  bool possessive = false;                    // the 's of English

  // Rules that say nothing, for languages that want nothing.
  static const LanguageRules& Of(std::string_view language);
};

// Without the marks of Latin, Greek and Arabic letters and Hebrew points, and with ø, æ, ł, ... as the
// letters that people type for them, but for the language's own letters. `word` is case-folded UTF-8.
std::string FoldMarks(std::string_view word, const LanguageRules& rules);
// The same with letters that are typed as two; equal to FoldMarks where there are none, or the language has
// none.
std::string ExpandMarks(std::string_view word, const LanguageRules& rules);

}  // namespace waymark
