// Cuts text into words: case-folded runs of letters and digits. Combining marks go on with a run; scripts
// without spaces (Chinese, Japanese, Thai, ...) are cut further by ICU's dictionaries. Folding is Unicode's
// NFKC_Casefold, so full-width and ligature forms are the same word; accents stay.
//
//   SegmentWords("Amélie & co. 2001", [](std::string_view w) { ... });   // "amélie", "co", "2001"
//
// Words are the same as those of the regular expression [^\W_]+ on lower-cased text, which the reference
// figures use, for all text without combining marks and such scripts.
#pragma once
#include <string_view>

#include "absl/functional/function_ref.h"

namespace waymark {

// Longer words keep their first 255 code points: far below Lucene's limit of 16,383, and more than any word
// that somebody types.
inline constexpr int kMaxWordLength = 255;

// `word` is valid during the call only. Bytes that are no UTF-8 separate words. Thread-safe.
void SegmentWords(std::string_view utf8, absl::FunctionRef<void(std::string_view word)> visit);

// The same words with the bytes of the text that each was written in. Slower where text is not ASCII.
void SegmentWordSpans(std::string_view utf8,
                      absl::FunctionRef<void(std::string_view word, size_t begin, size_t end)> visit);

}  // namespace waymark
