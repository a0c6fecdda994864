#include "suggest/completion_text.h"

#include <algorithm>

#include "index/letters.h"
#include "index/snippet.h"
#include "index/word_segmenter.h"

namespace waymark {
namespace {

uint32_t CountLetters(std::string_view utf8) {
  uint32_t letters = 0;
  for (size_t at = 0; at < utf8.size(); ++letters) ReadLetter(utf8, &at);
  return letters;
}

}  // namespace

FoldedText FoldForCompletion(std::string_view text) {
  FoldedText out;
  size_t last = 0;
  SegmentWordSpans(text, [&](std::string_view word, size_t begin, size_t end) {
    if (!out.words.empty() && begin > last) out.folded.push_back(' ');
    out.words.push_back({begin, end, out.folded.size()});
    out.folded.append(word);
    last = std::max(last, end);
  });
  out.ended = !out.words.empty() && last < text.size();
  return out;
}

std::vector<CompletionMatch> MatchesIn(std::string_view text, size_t begin, size_t end) {
  const FoldedText folded = FoldForCompletion(text);
  std::vector<CompletionMatch> matches;
  size_t counted = 0;  // bytes of `text`
  uint32_t letters = 0;
  for (size_t w = 0; w < folded.words.size(); ++w) {
    const FoldedWord& word = folded.words[w];
    const size_t next = w + 1 < folded.words.size() ? folded.words[w + 1].folded : folded.folded.size();
    if (next <= begin) continue;
    if (word.folded >= end) break;
    letters += CountLetters(text.substr(counted, word.begin - counted));
    counted = word.begin;
    const uint32_t whole = CountLetters(text.substr(word.begin, word.end - word.begin));
    const std::string_view lower = std::string_view(folded.folded).substr(word.folded, next - word.folded);
    uint32_t marked = whole;
    if (end < next) {
      // Where folding has changed how many letters there are, the word counts as a whole.
      const uint32_t typed = CountLetters(lower.substr(0, end - word.folded));
      const bool blank = lower.ends_with(' ');
      if (CountLetters(lower) - (blank ? 1 : 0) == whole) marked = std::min(typed, whole);
    }
    if (!matches.empty() && matches.back().end == letters) {
      matches.back().end = letters + marked;  // a script without spaces
    } else {
      matches.push_back({letters, letters + marked});
    }
  }
  return matches;
}

std::string MarkedText(std::string_view text, absl::Span<const CompletionMatch> matches) {
  const std::u32string letters = Letters(text);
  std::string html;
  uint32_t at = 0;
  const auto take = [&](uint32_t end) {
    AppendEscaped(std::u32string_view(letters).substr(at, end - at), &html);
    at = end;
  };
  for (const CompletionMatch& match : matches) {
    take(match.begin);
    html.append("<mark>");
    take(match.end);
    html.append("</mark>");
  }
  take(static_cast<uint32_t>(letters.size()));
  return html;
}

}  // namespace waymark
