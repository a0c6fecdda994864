// Scores of whole ranking lists by a model in training: validation, and evaluation without a package.
#pragma once
#include <vector>

#include "training/ranker/ranker_model.h"

namespace waymark {

// Lists of one batch.
inline constexpr size_t kScoredTogether = 32;

// [chosen][candidates], without padding. One batcher for each part that is worked on side by side.
std::vector<std::vector<float>> ScoreWith(const RankerModel& model, absl::Span<RankerBatcher> batchers,
                                          ShardPool* pool, const RankingLists& lists,
                                          absl::Span<const size_t> chosen);
// The same of a model whose tables are spread over ranks: called on all of them, each with lists of its own,
// no more than kScoredTogether for each batcher.
std::vector<std::vector<float>> ScoreSpreadWith(const RankerModel& model, absl::Span<RankerBatcher> batchers,
                                                ShardPool* pool, const RankingLists& lists,
                                                absl::Span<const size_t> chosen, RankerRanks* ranks);

}  // namespace waymark
