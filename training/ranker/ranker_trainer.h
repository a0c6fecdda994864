// Trains the attention ranker on ranking lists: softmax cross-entropy over each list, AdamW, early stop on
// the validation lists' nDCG@10.
//
//   auto trained = TrainRanker(train, validation, directory, {.seed = 1}, progress, stop);
//   auto package = WriteRankerPackage("models/ranker-1", *trained, FeatureTable::Current(), manifest);
//
// The same lists, options and machine give the same weights, bit for bit; so does a run that was stopped and
// goes on from its checkpoint.
#pragma once
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "candidates/item_directory.h"
#include "rank/feature_table.h"
#include "training/ranker/ranker_options.h"
#include "training/ranker/ranking_lists.h"
#include "training/ranker/trained_ranker.h"

namespace waymark {

struct RankerProgress {
  int epoch = 0, max_epochs = 0;                         // from 1
  int64_t lists = 0, epoch_lists = 0;                    // of this epoch
  double loss = 0;                                       // mean of this epoch so far
  double validation_ndcg = 0, best_validation_ndcg = 0;  // after the last epoch
  bool epoch_done = false;
};
using RankerProgressCallback = std::function<void(const RankerProgress&)>;

// When `stop` is requested a checkpoint is written and the answer is CANCELLED. With the same
// lists, options and checkpoint_folder the next call goes on where it stopped; a checkpoint of other lists or
// options is FAILED_PRECONDITION. INVALID_ARGUMENT: no lists, or an option out of bounds.
absl::StatusOr<TrainedRanker> TrainRanker(const RankingLists& train, const RankingLists& validation,
                                          const ItemDirectory& directory, const RankerTrainerOptions& options,
                                          const RankerProgressCallback& progress, std::stop_token stop);

// Scores of lists by a trained ranker that is not in a package, for evaluation: [lists][candidates].
absl::StatusOr<std::vector<std::vector<float>>> ScoreRankingLists(const TrainedRanker& ranker,
                                                                  const RankingLists& lists,
                                                                  const ItemDirectory& directory);

// With the columns of `table`.
inline absl::StatusOr<ModelPackage> WriteRankerPackage(const std::filesystem::path& folder,
                                                       const TrainedRanker& ranker, const FeatureTable& table,
                                                       storage::ModelManifest manifest) {
  return WriteRankerPackage(folder, ranker, RankerFeatures{table.Names(), table.sha256()},
                            std::move(manifest));
}

}  // namespace waymark
