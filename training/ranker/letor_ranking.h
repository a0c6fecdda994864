// Waymark's ranking network on learning-to-rank files: the same network, loss and trainer as the product's
// ranker, over the file's own features. What `waymark evaluate ranker --letor` reports.
#pragma once
#include "training/evaluation/letor.h"
#include "training/ranker/ranker_trainer.h"

namespace waymark {

// Trains on `train` (its last part, by validation_share, stops it), scores `test`: [rows of test]. Labels
// become gains 2^label - 1; queries without a relevant row are not trained on.
absl::StatusOr<std::vector<float>> RankLetor(const LetorData& train, const LetorData& test,
                                             const RankerTrainerOptions& options,
                                             const RankerProgressCallback& progress, std::stop_token stop);

// For a file without a companion to train on: each of `folds` parts (by query, in turn) is scored by a ranker
// trained on the others. [rows of data]
absl::StatusOr<std::vector<float>> CrossRankLetor(const LetorData& data, size_t folds,
                                                  const RankerTrainerOptions& options,
                                                  const RankerProgressCallback& progress,
                                                  std::stop_token stop);

}  // namespace waymark
