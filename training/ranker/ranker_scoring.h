// Scores of whole ranking lists by a model in training: validation, and evaluation without a package.
#pragma once
#include <vector>

#include "training/ranker/ranker_model.h"

namespace waymark {

// [chosen][candidates], without padding.
std::vector<std::vector<float>> ScoreWith(RankerModel* model, RankerBatcher* batcher,
                                          const RankingLists& lists, absl::Span<const size_t> chosen);

}  // namespace waymark
