#include "index/snippet.h"

#include <algorithm>
#include <set>
#include <utility>

#include "index/letters.h"

namespace waymark {
namespace {

constexpr std::string_view kCut = "…";

struct Stretch {
  uint32_t begin, end;
};

bool IsGap(char32_t letter) { return letter <= U' ' || letter == 0xA0 || letter == 0x3000; }

// The matches from the first one to the last that fit, where that tells most.
Stretch BestStretch(absl::Span<const TextMatch> matches, uint32_t length) {
  Stretch best{matches[0].begin, std::min(matches[0].end, matches[0].begin + length)};
  std::pair<size_t, size_t> most{0, 0};  // words, matches
  std::set<uint32_t> words;
  for (size_t first = 0; first < matches.size(); ++first) {
    words.clear();
    size_t last = first;
    for (; last < matches.size() && matches[last].end - matches[first].begin <= length; ++last) {
      words.insert(matches[last].word);
    }
    if (last == first || std::pair(words.size(), last - first) <= most) continue;
    most = {words.size(), last - first};
    best = {matches[first].begin, matches[last - 1].end};
  }
  return best;
}

// Takes in text on both sides up to the length, whole words of it.
Stretch Widen(std::u32string_view text, Stretch found, uint32_t length) {
  const auto size = static_cast<uint32_t>(text.size());
  if (size <= length) return {0, size};
  const uint32_t room = length - (found.end - found.begin);
  Stretch wide{found.begin - std::min(found.begin, room / 2), 0};
  wide.end = std::min(size, wide.begin + length);
  wide.begin = std::min(wide.begin, wide.end - length);
  if (wide.begin > 0 && !IsGap(text[wide.begin - 1])) {
    uint32_t word = wide.begin;
    while (word < found.begin && !IsGap(text[word])) ++word;
    if (word < found.begin) wide.begin = word;
  }
  while (wide.begin < found.begin && IsGap(text[wide.begin])) ++wide.begin;
  if (wide.end < size && !IsGap(text[wide.end])) {
    uint32_t word = wide.end;
    while (word > found.end && !IsGap(text[word - 1])) --word;
    if (word > found.end) wide.end = word;
  }
  while (wide.end > found.end && IsGap(text[wide.end - 1])) --wide.end;
  return wide;
}

}  // namespace

void AppendEscaped(std::u32string_view text, std::string* html) {
  for (char32_t letter : text) {
    switch (letter) {
      case U'&':
        html->append("&amp;");
        break;
      case U'<':
        html->append("&lt;");
        break;
      case U'>':
        html->append("&gt;");
        break;
      case U'"':
        html->append("&quot;");
        break;
      case U'\'':
        html->append("&#39;");
        break;
      default:
        AppendUtf8(letter, html);
    }
  }
}

std::string MakeSnippet(std::u32string_view text, absl::Span<const TextMatch> matches,
                        const SnippetOptions& options) {
  const Stretch stretch = Widen(text, BestStretch(matches, options.length), options.length);
  std::string html;
  if (stretch.begin > 0) html.append(kCut);
  uint32_t at = stretch.begin;
  const auto take = [&](uint32_t end) {
    AppendEscaped(text.substr(at, end - at), &html);
    at = end;
  };
  for (const TextMatch& match : matches) {
    const uint32_t begin = std::max(match.begin, stretch.begin), end = std::min(match.end, stretch.end);
    if (begin >= end) continue;
    take(begin);
    html.append(options.pre_tag);
    take(end);
    html.append(options.post_tag);
  }
  take(stretch.end);
  if (stretch.end < text.size()) html.append(kCut);
  return html;
}

}  // namespace waymark
