// Scores of whole ranking lists by a model in training: validation, and evaluation without a package.
#pragma once
#include <vector>

#include "training/ranker/ranker_model.h"

namespace waymark {

// [chosen][candidates], without padding. One batcher for each part that is worked on side by side.
std::vector<std::vector<float>> ScoreWith(const RankerModel& model, absl::Span<RankerBatcher> batchers,
                                          ShardPool* pool, const RankingLists& lists,
                                          absl::Span<const size_t> chosen);

}  // namespace waymark
