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
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "candidates/item_directory.h"
#include "rank/network/ranker_config.h"
#include "store/package/model_package.h"
#include "training/ranker/ranking_lists.h"

namespace waymark {

struct RankerTrainerOptions {
  uint64_t seed = 1;
  double learning_rate = 2e-3, final_learning_rate_share = 0.1;  // falls linearly over the epochs
  double weight_decay = 1e-3;
  int lists_per_batch = 48, max_epochs = 12;
  int patience = 3;               // epochs without a better validation nDCG
  double validation_share = 0.1;  // of `train`, chosen by hash, when no validation lists are given
  double dropout = 0.1;           // of hidden units and of what comes from the attention
  double id_dropout = 0.3;        // items that are seen by content alone in a step
  int min_item_count = 2;         // lists that name an item before it gets a vector of its own
  int64_t width = 32, hidden1 = 64, hidden2 = 32, attention_heads = 2;
  int64_t content_buckets = 1 << 14, query_buckets = 1 << 13;
  int threads = 1;  // the result does not depend on it
  // Where the checkpoint lies (ranker-checkpoint.safetensors); empty: none. Removed when training is done.
  std::filesystem::path checkpoint_folder;
  int64_t checkpoint_steps = 2000;  // between two checkpoints; one is written after each epoch too
};

struct RankerProgress {
  int epoch = 0, max_epochs = 0;                         // from 1
  int64_t lists = 0, epoch_lists = 0;                    // of this epoch
  double loss = 0;                                       // mean of this epoch so far
  double validation_ndcg = 0, best_validation_ndcg = 0;  // after the last epoch
  bool epoch_done = false;
};
using RankerProgressCallback = std::function<void(const RankerProgress&)>;

struct TrainedRanker {
  RankerConfig config;
  TensorMap weights;
  std::vector<std::string> vocabulary;  // ids by row of item_vectors
  // loss, epochs, best_epoch, training_lists, validation_lists, validation_ndcg_at_10 (over the lists whose
  // target is among the candidates), lists_without_target, lists_over_memory_limit
  std::map<std::string, double> metrics;
  int64_t lists = 0, lists_with_query = 0;
  LogOffset first_position = 0, last_position = 0;
  int64_t first_time_us = 0, last_time_us = 0;
  uint64_t seed = 0;
};

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

// `manifest` brings name, version, create_time, retriever_sha256 and, where they are known, data.first and
// last, events, users and items; kind, network, features, metrics and the rest of data are filled here.
absl::StatusOr<ModelPackage> WriteRankerPackage(const std::filesystem::path& folder,
                                                const TrainedRanker& ranker, const FeatureTable& table,
                                                storage::ModelManifest manifest);

}  // namespace waymark
