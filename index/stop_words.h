// Words that are left out where a schema says so. English has the 33 of Lucene's StandardAnalyzer
// (StopAnalyzer.ENGLISH_STOP_WORDS_SET), the set that the published figures remove; other languages have
// Snowball's.
//
//   const StopWords* german = StopWords::Of("german");
//   german->Contains("der");   // true
#pragma once
#include <string>
#include <string_view>

#include "absl/container/flat_hash_set.h"

namespace waymark {

// Of English. `word` is case-folded and not stemmed.
bool IsStopWord(std::string_view word);

// Immutable; thread-safe.
class StopWords {
 public:
  // Null: there is no list (catalog/text_analysis.h says which there are).
  static const StopWords* Of(std::string_view language);
  bool Contains(std::string_view word) const {
    return words_.contains(absl::string_view(word.data(), word.size()));
  }

 private:
  absl::flat_hash_set<std::string> words_;  // case-folded
};

// Words between blanks and line ends; empty: there are none.
std::string_view StopWordText(std::string_view language);

}  // namespace waymark
