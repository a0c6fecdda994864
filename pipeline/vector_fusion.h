// How the matches of a query's words and the items nearest to its vector become one list. Pure.
//
//   auto fused = FuseWithNearest(words, nearest, {.weight = 0.5});
#pragma once
#include <vector>

#include "absl/types/span.h"
#include "catalog/scored_item.h"
#include "pipeline/request.h"

namespace waymark {

// Of reciprocal ranks (Cormack, Clarke, Büttcher 2009, who took 60).
inline constexpr double kVectorFusionK = 60;

struct FusedItem {
  ItemOrdinal item = kNoItem;
  double score = 0;
  int words_rank = 0, vector_rank = 0;  // from 1; 0: not in that list
};

// Both lists best first. RANKS: weight / (60 + rank) of the nearest and (1 - weight) / (60 + rank) of the
// words, added. SCORES: the scores of each list stretched to 0..1, weighted and added; an item that a list
// lacks gets 0 of it. With one list empty the other's order stands. Best first, ties by ordinal.
std::vector<FusedItem> FuseWithNearest(absl::Span<const ScoredItem> words,
                                       absl::Span<const ScoredItem> nearest, const VectorAsked& asked);

}  // namespace waymark
