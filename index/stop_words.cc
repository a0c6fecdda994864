#include "index/stop_words.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "catalog/text_analysis.h"

namespace waymark {
namespace {

// Sorted.
constexpr std::array<std::string_view, 33> kStopWords = {
    "a",   "an",    "and",  "are",   "as",    "at",   "be",   "but", "by",  "for",  "if",
    "in",  "into",  "is",   "it",    "no",    "not",  "of",   "on",  "or",  "such", "that",
    "the", "their", "then", "there", "these", "they", "this", "to",  "was", "will", "with"};
static_assert(std::is_sorted(kStopWords.begin(), kStopWords.end()));

}  // namespace

bool IsStopWord(std::string_view word) {
  return word.size() <= 5 && std::binary_search(kStopWords.begin(), kStopWords.end(), word);
}

const StopWords* StopWords::Of(std::string_view language) {
  using Lists = std::map<std::string, StopWords, std::less<>>;
  static const Lists* const lists = [] {
    auto* made = new Lists;
    for (const TextLanguage& known : TextLanguages()) {
      if (!known.has_stop_words) continue;
      StopWords& list = (*made)[std::string(known.name)];
      if (known.name == "english") {
        for (const std::string_view word : kStopWords) list.words_.emplace(word);
        continue;
      }
      const std::string_view text = StopWordText(known.name);
      for (const absl::string_view word : absl::StrSplit(absl::string_view(text.data(), text.size()),
                                                         absl::ByAnyChar(" \n"), absl::SkipEmpty())) {
        list.words_.insert(absl::StrReplaceAll(word, {{"ß", "ss"}}));
      }
    }
    return made;
  }();
  const auto found = lists->find(language);
  return found == lists->end() ? nullptr : &found->second;
}

}  // namespace waymark
