// How well items answer the words of a query, of the keyword signals: what rankers that know nothing of words
// leave the order of searches to.
//
// Thread-safe.
#pragma once
#include <array>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "candidates/candidate.h"

namespace waymark {

// Of z-scores within the list. Chosen by docs/ranking.md, «Searches».
inline constexpr std::array<std::pair<Signal, double>, 4> kTextWeights = {{
    {Signal::kKeywordScore, 4.0},
    {Signal::kKeywordTitle, 1.0},
    {Signal::kKeywordTitleMatch, 1.0},
    {Signal::kKeywordProximity, 0.5},
}};

// What an item gets whose title is the query, word for word: more than z-scores of others reach but by many
// deviations, so that who types a name finds it first.
inline constexpr double kTitleIsQuery = 20;
double TitleIsQuery(const Candidate& candidate);  // that, or 0

// [candidates]: sum of weight * z, 0 for a signal that is missing, and of TitleIsQuery(), as a share of the
// keyword score's weight.
std::vector<double> TextScores(absl::Span<const Candidate> candidates);

}  // namespace waymark
