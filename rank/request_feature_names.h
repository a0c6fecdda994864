// Names of the features that are the same for all candidates of a request.
#pragma once

namespace waymark {

inline constexpr char kHistoryLengthName[] = "request.history_length";  // ln(1 + events)
inline constexpr char kHasQueryName[] = "request.has_query";
inline constexpr char kQueryWordsName[] = "request.query_words";  // ln(1 + words)

}  // namespace waymark
