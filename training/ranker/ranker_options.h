// How a ranker is trained, whether one process trains it or many.
#pragma once
#include <cstdint>
#include <filesystem>

#include "absl/status/status.h"
#include "rank/network/ranker_config.h"

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

// INVALID_ARGUMENT names the option and its bounds.
absl::Status CheckRankerOptions(const RankerTrainerOptions& options);

// The network for lists of `features` columns, a vocabulary of `items`, and what there is to read beside
// them.
RankerConfig RankerConfigFor(const RankerTrainerOptions& options, int64_t features, int64_t items,
                             int64_t content_buckets, bool with_query);

}  // namespace waymark
