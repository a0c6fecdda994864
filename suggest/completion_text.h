// Text as completion compares it: its words in lower case, one blank between words that something stood
// between. Words of scripts without spaces stay together, as people type them, but each may be a beginning.
//
//   FoldForCompletion("Spider-Man: Homecoming").folded   // "spider man homecoming"
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace waymark {

struct FoldedWord {
  size_t begin = 0, end = 0;  // bytes of the text
  size_t folded = 0;          // bytes of the folded text before the word
};

struct FoldedText {
  std::string folded;
  std::vector<FoldedWord> words;  // in order
  bool ended = false;             // something that belongs to no word stands behind the last one
};

// Bytes that are no UTF-8 separate words. Thread-safe.
FoldedText FoldForCompletion(std::string_view text);

// In Unicode code points of a text.
struct CompletionMatch {
  uint32_t begin = 0, end = 0;
  bool operator==(const CompletionMatch&) const = default;
};

// Where `text` holds folded bytes [begin, end), which lie in the folded text of `text`: whole words are one
// place each, the last one as far as it was typed.
std::vector<CompletionMatch> MatchesIn(std::string_view text, size_t begin, size_t end);

// HTML: the text, escaped, with the matches between <mark> and </mark>.
std::string MarkedText(std::string_view text, absl::Span<const CompletionMatch> matches);

}  // namespace waymark
