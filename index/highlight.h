// What is shown of the words of a query in an item's text.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace waymark {

inline constexpr size_t kMaxHighlightFields = 20, kMaxTagBytes = 200;
inline constexpr int kDefaultSnippetLength = 200, kMaxSnippetLength = 2000;  // code points
// Of a text, code points that are looked through and matches that are shown.
inline constexpr size_t kMaxHighlightedLetters = 100'000, kMaxMatchesShown = 100;

struct HighlightOptions {
  std::vector<std::string> fields;  // empty: all that are searched
  std::string pre_tag = "<mark>", post_tag = "</mark>";
  int snippet_length = 0;  // code points; 0: kDefaultSnippetLength
  bool offsets_only = false;
};

// A word of the text, in code points from its beginning.
struct HighlightMatch {
  uint32_t begin = 0, end = 0;
  std::string word;  // of the query, case-folded
  bool operator==(const HighlightMatch&) const = default;
};

struct TextHighlight {
  std::string field;
  int value = 0;  // of an array, the element; else 0
  std::vector<HighlightMatch> matches;
  std::string snippet;  // HTML; empty with offsets_only
};

}  // namespace waymark
