// The words of a unit of text (index/unit_segmenter.h) with their terms, as AnalyzerKind::kStandard has them:
//
//   word            its stem without marks; its exact form beside it, where that is another term
//   number          itself; parts of compounds with numbers are no stop words
//   joined          the parts of a compound written together, at the place of the first
//   beside          of a word with marks: the stem of the word without them, and with those that are typed as
//   two
//                   letters; of a run of CJK: its characters
//
// Not thread-safe: belongs to one text.
#pragma once
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "index/language_rules.h"
#include "index/stemmer.h"
#include "index/unit_segmenter.h"

namespace waymark {

struct AnalysedWord;

class StandardWords {
 public:
  // Both outlive it.
  StandardWords(const LanguageRules& rules, const Stemmer& stemmer) : rules_(rules), stemmer_(stemmer) {}

  using IsStop = absl::FunctionRef<bool(std::string_view)>;
  using VisitWord = absl::FunctionRef<void(const AnalysedWord&)>;
  // Of the next unit of the text.
  void Visit(const TextUnit& unit, IsStop is_stop, VisitWord visit);

 private:
  void VisitPart(const TextUnit& unit, const UnitPart& part, IsStop is_stop, VisitWord visit);
  void VisitBeside(const AnalysedWord& word, VisitWord visit);
  void VisitJoined(const TextUnit& unit, VisitWord visit);
  void VisitCjk(const TextUnit& unit, VisitWord visit);
  // term_ and form_ of a word of letters.
  void Stem(std::string_view word);

  const LanguageRules& rules_;
  const Stemmer& stemmer_;
  uint32_t position_ = 0, unit_ = 0;
  std::string term_, form_, other_;
};

}  // namespace waymark
