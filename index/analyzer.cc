#include "index/analyzer.h"

#include "index/stemmer.h"
#include "index/stop_words.h"
#include "index/word_segmenter.h"

namespace waymark {

uint32_t Analyzer::Analyze(std::string_view text, uint32_t position, TermList* terms) const {
  SegmentWords(text, [&](std::string_view word) {
    if (!(settings_.remove_stop_words && IsStopWord(word))) {
      terms->Add(StemWord(settings_.stemmer, word), position);
    }
    ++position;
  });
  return position;
}

void Analyzer::ForEachWord(std::string_view text, absl::FunctionRef<void(const AnalysedWord&)> visit) const {
  uint32_t position = 0;
  SegmentWordSpans(text, [&](std::string_view word, size_t begin, size_t end) {
    const bool stop = settings_.remove_stop_words && IsStopWord(word);
    visit(
        {word, stop ? std::string_view() : StemWord(settings_.stemmer, word), stop, position++, begin, end});
  });
}

}  // namespace waymark
