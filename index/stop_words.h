// The 33 English stop words of Lucene's StandardAnalyzer (StopAnalyzer.ENGLISH_STOP_WORDS_SET): the set that
// the published figures remove.
#pragma once
#include <string_view>

namespace waymark {

// `word` is case-folded and not stemmed.
bool IsStopWord(std::string_view word);

}  // namespace waymark
