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
  std::string_view word, term;  // case-folded; its stem, which may be empty. Valid during the call
  bool stop;                    // a stop word, which has no term
  uint32_t position;            // among the words
  size_t begin, end;            // bytes of the text that it was written in
};

// Immutable; thread-safe.
class Analyzer {
 public:
  explicit Analyzer(AnalysisSettings settings) : settings_(settings) {}
  const AnalysisSettings& settings() const { return settings_; }

  // Appends the terms of `text`, the first word standing at `position`. Stop words give no term but take
  // their place, so phrases keep their gaps. Answers the position after the last word.
  uint32_t Analyze(std::string_view text, uint32_t position, TermList* terms) const;
  // The same terms with where they come from; slower.
  void ForEachWord(std::string_view text, absl::FunctionRef<void(const AnalysedWord&)> visit) const;

 private:
  AnalysisSettings settings_;
};

}  // namespace waymark
