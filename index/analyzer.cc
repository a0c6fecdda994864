#include "index/analyzer.h"

#include "index/standard_words.h"
#include "index/word_segmenter.h"

namespace waymark {

Analyzer::Analyzer(AnalysisSettings settings)
    : settings_(std::move(settings)),
      stemmer_(settings_),
      rules_(&LanguageRules::Of(settings_.language)),
      stop_words_(settings_.remove_stop_words && !settings_.language.empty()
                      ? StopWords::Of(settings_.language)
                      : nullptr) {}

bool Analyzer::IsStop(std::string_view word) const {
  if (!settings_.remove_stop_words) return false;
  return stop_words_ == nullptr ? IsStopWord(word) : stop_words_->Contains(word);
}

uint32_t Analyzer::Analyze(std::string_view text, uint32_t position, TermList* terms) const {
  if (!standard()) {
    SegmentWords(text, [&](std::string_view word) {
      if (!IsStop(word)) terms->Add(stemmer_.Stem(word), position);
      ++position;
    });
    return position;
  }
  uint32_t end = position;
  ForEachStandardTerm(text, [&](const AnalysedWord& word) {
    if (word.kind != AnalysedWord::Kind::kWord) return;
    if (!word.stop) terms->Add(word.term, position + word.position);
    end = position + word.position + 1;
  });
  return end;
}

uint32_t Analyzer::AnalyzeDocument(std::string_view text, uint32_t position, TermList* terms) const {
  if (!standard()) return Analyze(text, position, terms);
  uint32_t end = position;
  ForEachStandardTerm(text, [&](const AnalysedWord& word) {
    end = position + word.position + 1;
    if (word.stop) return;
    terms->Add(word.term, position + word.position);
    if (!word.form.empty()) terms->Add(word.form, position + word.position);
  });
  return end;
}

void Analyzer::ForEachWord(std::string_view text, absl::FunctionRef<void(const AnalysedWord&)> visit) const {
  if (!standard()) return ForEachPlainWord(text, visit);
  ForEachStandardTerm(text, [&](const AnalysedWord& word) {
    if (word.kind == AnalysedWord::Kind::kWord) visit(word);
  });
}

void Analyzer::ForEachTerm(std::string_view text, absl::FunctionRef<void(const AnalysedWord&)> visit) const {
  standard() ? ForEachStandardTerm(text, visit) : ForEachPlainWord(text, visit);
}

void Analyzer::ForEachPlainWord(std::string_view text,
                                absl::FunctionRef<void(const AnalysedWord&)> visit) const {
  uint32_t position = 0;
  SegmentWordSpans(text, [&](std::string_view word, size_t begin, size_t end) {
    const bool stop = IsStop(word);
    AnalysedWord analysed{word, stop ? std::string_view() : stemmer_.Stem(word), stop, position, begin, end};
    analysed.unit = position++;
    visit(analysed);
  });
}

void Analyzer::ForEachStandardTerm(std::string_view text,
                                   absl::FunctionRef<void(const AnalysedWord&)> visit) const {
  StandardWords words(*rules_, stemmer_);
  SegmentUnits(text, *rules_, [&](const TextUnit& unit) {
    words.Visit(
        unit, [this](std::string_view word) { return IsStop(word); }, visit);
  });
}

}  // namespace waymark
