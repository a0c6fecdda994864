// The named numbers that a candidate carries from the stages that found it to the ranker. A new signal is one
// line here; names are in model packages, so a name keeps its meaning for ever.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace waymark {

enum class Signal : unsigned {
  // Scores of the sources. NaN: the source knows nothing of the item.
  kKeywordScore,       // BM25 of the query
  kKeywordCoverage,    // share of the query's words that the item holds, 0..1
  kKeywordTitle,       // share of the query's words in the title field, 0..1
  kKeywordTitleMatch,  // how near query and title are to being the same words, 0..1 (index/word_places.h)
  kKeywordProximity,   // how near the query's words stand to each other as it has them, 0..1
  kRetrieverScore,     // cosine of the user vector and the item vector
  kCovisitationScore,  // windowed co-visitation with the last 10 items
  kTransitionScore,    // P(item | last item), Markov-1, ties by popularity
  kPopularityScore,    // log of what recommend/popularity_table.h calls popularity
  kSimilarScore,       // largest cosine to a context or positive item
  // What behaviour says beyond the sources' own scores.
  kTransitionSecondLast,    // P(item | last but one)
  kCovisitationLast,        // co-visitation with the last item only
  kCovisitationSecondLast,  // co-visitation with the last but one
  kLogCount,                // log(1 + events that name the item), over all time
  kLogRecentCount,  // log(1 + sum of (n / N)^9 over its events), n-th of N in the log: the newest tenth
  kCosineLast,      // item vector with the last item's vector
  kCosineMaxLast5,
  kCosineMaxLast20,
  kHistoryLength,  // log(1 + events in the history); the same for all candidates of a request
  // What the catalogue says.
  kCategoryAffinity,  // share of the history's category mass that the item's categories hold, 0..1
  kCategoryAffinityLast5,
  kTitleOverlap,  // largest Jaccard overlap of title words with the last 10 items, 0..1
  kYear,          // the first field that looks like a year, or the release time's year
  kYearDistance,  // |year - median year of the last 20 items|
  kItemAge,       // log(1 + days) from the item's first write or first event to the request
  kDecayedEase,   // closed-form linear autoencoder over the decayed history; small catalogues only
  kCount,
};
inline constexpr size_t kSignalCount = static_cast<size_t>(Signal::kCount);

// "keyword_score", "retriever_score", ...: stable text names, in the enum's order.
std::string_view SignalName(Signal signal);
std::optional<Signal> FindSignal(std::string_view name);

// NaN marks a missing value.
using SignalValues = std::array<float, kSignalCount>;
SignalValues MissingSignals();
inline float Get(const SignalValues& values, Signal s) { return values[static_cast<size_t>(s)]; }
inline void Set(SignalValues& values, Signal s, float value) { values[static_cast<size_t>(s)] = value; }

}  // namespace waymark
