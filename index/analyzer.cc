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

}  // namespace waymark
