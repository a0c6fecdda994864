// Text to terms with positions: segmentation, stop words, stems.
//
//   TermList terms;
//   Analyzer(settings).Analyze("The lord of the rings", 0, &terms);   // "lord" at 1, "ring" at 4
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "index/analysis_settings.h"
#include "index/language_rules.h"
#include "index/stemmer.h"
#include "index/stop_words.h"

namespace waymark {

// Terms one after the other in one buffer, so that a list that is filled again and again allocates nothing.
class TermList {
 public:
  void Clear() { text_.clear(), terms_.clear(); }
  void Add(std::string_view term, uint32_t position) {
    terms_.push_back({static_cast<uint32_t>(text_.size()), static_cast<uint32_t>(term.size()), position});
    text_.append(term);
  }
  size_t size() const { return terms_.size(); }
  bool empty() const { return terms_.empty(); }
  size_t bytes() const { return text_.size(); }  // of the terms
  // UTF-8.
  std::string_view term(size_t i) const { return {text_.data() + terms_[i].begin, terms_[i].length}; }
  uint32_t position(size_t i) const { return terms_[i].position; }

 private:
  struct Entry {
    uint32_t begin, length, position;
  };
  std::string text_;
  std::vector<Entry> terms_;
};

// A word of a text, on the way to its term.
struct AnalysedWord {
  enum class Kind {
    kWord,
    kJoined,  // the words of a unit, written together: "wifi" of "wi-fi"
    kBeside,  // of documents only: what else finds the word before it, such as "mueller" for "müller"
  };
  std::string_view word, term;  // case-folded; its stem, which may be empty. Valid during the call
  bool stop;                    // a stop word, which has no term
  uint32_t position;            // among the words
  size_t begin, end;            // bytes of the text that it was written in
  // Of AnalyzerKind::kStandard. The term of the very form, where that is another one than the stem; else
  // empty.
  std::string_view form = {};
  Kind kind = Kind::kWord;
  uint32_t unit = 0;  // words that are written together have the same
  bool strict =
      false;  // the words of the unit say little alone: the parts of a number or of a short run of CJK
};

// Exact forms are terms too, beside the stems: this byte and the word. They count for no length, and no
// typing error leads to them.
inline constexpr char kFormMark = '\x01';
inline bool IsForm(std::string_view term) { return !term.empty() && term[0] == kFormMark; }

// Immutable; thread-safe.
class Analyzer {
 public:
  explicit Analyzer(AnalysisSettings settings);
  const AnalysisSettings& settings() const { return settings_; }
  // Whether words have exact forms, joined words and words beside them.
  bool standard() const { return settings_.analyzer == AnalyzerKind::kStandard; }

  // Appends the terms of `text`, the first word standing at `position`: those of its words, one for each.
  // Stop words give no term but take their place, so phrases keep their gaps. Answers the position after the
  // last word.
  uint32_t Analyze(std::string_view text, uint32_t position, TermList* terms) const;
  // The same with all that finds a document: exact forms, joined words and words beside them.
  uint32_t AnalyzeDocument(std::string_view text, uint32_t position, TermList* terms) const;
  // The words of `text` with where they come from; slower.
  void ForEachWord(std::string_view text, absl::FunctionRef<void(const AnalysedWord&)> visit) const;
  // Words of all kinds, by position; those of a unit follow each other.
  void ForEachTerm(std::string_view text, absl::FunctionRef<void(const AnalysedWord&)> visit) const;

 private:
  bool IsStop(std::string_view word) const;
  void ForEachPlainWord(std::string_view text, absl::FunctionRef<void(const AnalysedWord&)> visit) const;
  void ForEachStandardTerm(std::string_view text, absl::FunctionRef<void(const AnalysedWord&)> visit) const;

  AnalysisSettings settings_;
  Stemmer stemmer_;
  const LanguageRules* rules_;   // of the language
  const StopWords* stop_words_;  // null: none are left out, or English ones
};

}  // namespace waymark
