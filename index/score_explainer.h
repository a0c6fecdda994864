// Explains scores on one snapshot. Thread-safe.
#pragma once
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "index/bound_query.h"
#include "index/index_snapshot.h"
#include "index/keyword_index.h"
#include "index/score_explanation.h"

namespace waymark {

// [items]; none: the snapshot does not hold the item. What was not looked at when the deadline came is none
// too.
std::vector<std::optional<ScoreExplanation>> ExplainScores(const IndexSnapshot& snapshot,
                                                           const BoundQuery& bound, const Bm25Options& bm25,
                                                           absl::Span<const ItemOrdinal> items,
                                                           Deadline deadline);

}  // namespace waymark
