// A stretch of a text around what was found in it, safe to be put into a page: the text is escaped, what was
// found stands between tags.
//
//   MakeSnippet(U"War & peace", {{0, 3, 0}}, {});   // "<mark>War</mark> &amp; peace"
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/types/span.h"

namespace waymark {

// Of a text, in code points.
struct TextMatch {
  uint32_t begin = 0, end = 0;
  uint32_t word = 0;  // of the query
};

struct SnippetOptions {
  std::string pre_tag = "<mark>", post_tag = "</mark>";
  uint32_t length = 200;  // code points at most, without tags and the dots where the text is cut
};

// matches: not empty, in order, within the text, apart from each other. The stretch is the one with most
// different words of the query, then most matches; it begins and ends between words where there are spaces,
// and a match that is longer than the stretch is cut.
std::string MakeSnippet(std::u32string_view text, absl::Span<const TextMatch> matches,
                        const SnippetOptions& options);

// & < > " ' as character references.
void AppendEscaped(std::u32string_view text, std::string* html);

}  // namespace waymark
