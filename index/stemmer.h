// Cuts words to their stems, by libstemmer.
//
//   Stemmer(settings).Stem("relational")   // "relat"
#pragma once
#include <cstddef>
#include <string_view>

#include "index/analysis_settings.h"

namespace waymark {

// Immutable, cheap to copy; thread-safe: each thread has libstemmer's states of its own.
class Stemmer {
 public:
  explicit Stemmer(const AnalysisSettings& settings);
  // The stem of a case-folded UTF-8 word. Valid until this thread's next call.
  std::string_view Stem(std::string_view word) const;

 private:
  size_t number_;  // 0: words stay as they are
};

}  // namespace waymark
