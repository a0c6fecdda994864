// Two words that were written as one: «starwars».
//
//   WordVariants found = FindSplit(segments, analyzer, "starwars", deadline);
//   found.words[0].term;   // "star war": two terms with a blank between; terms have none
//
// Thread-safe.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "index/word_variants.h"

namespace waymark {

// The two words that stand side by side in most documents, as one typing error; none where no document has
// two such words. `documents` counts up to kMaxSplitDocuments.
inline constexpr int64_t kMaxSplitDocuments = 10'000;
WordVariants FindSplit(absl::Span<const SegmentView> segments, const Analyzer& analyzer,
                       std::string_view typed, Deadline deadline);

// The term of a text that is one word; empty: it is not, or it is a stop word.
std::string TermOfWord(const Analyzer& analyzer, std::string_view text);

// What was typed for the terms of a split; none: it is no such word.
std::optional<std::string> SplitAsTyped(const Analyzer& analyzer, std::string_view typed,
                                        std::string_view terms);

}  // namespace waymark
