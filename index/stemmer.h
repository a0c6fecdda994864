// Cuts words to their stems, by libstemmer.
//
//   StemWord(StemmerKind::kPorter, "relational")   // "relat"
#pragma once
#include <string_view>

#include "index/analysis_settings.h"

namespace waymark {

// The stem of a case-folded UTF-8 word. Valid until this thread's next call. Thread-safe: each thread has
// stemmers of its own.
std::string_view StemWord(StemmerKind kind, std::string_view word);

}  // namespace waymark
