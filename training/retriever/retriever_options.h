// How a retriever is trained. The defaults are those of sparse data (short histories, large catalogue);
// RetrieverOptionsFor adapts them to what is there.
//
//   RetrieverOptions options = RetrieverOptionsFor(interactions);
//   options.threads = 2;
#pragma once
#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "recommend/interactions.h"
#include "recommend/network/retriever_shape.h"

namespace waymark {

struct RetrieverOptions {
  RetrieverShape shape;
  // Items that a batch is contrasted with: uniform without weights, shared by the batch, collisions masked.
  // At least as many as the catalogue has: full softmax.
  int negatives = 2048;
  int epochs = 14;
  // Epochs without a better validation nDCG@10 before training stops; the best epoch's weights are kept.
  int patience = 3;
  // The newest events of each user that are not trained on; the first of them is the validation target. 0:
  // train on everything for all `epochs`.
  size_t held_out = 1;
  size_t validation_users = 10000;  // at most this many are validated on, evenly spaced
  double learning_rate = 3e-3;      // Adam (.9, .98), linear warm-up, linear decay to 2%
  int warmup_steps = 100;
  double clip = 5;  // of the gradient's norm
  int batch_tokens = 1024;
  // A batch is cut into this many parts that are worked on side by side. Part of the recipe and not of the
  // machine, so that the result does not depend on `threads`.
  int shards = 2;
  double dropout = 0.4;
  // Share of items with content whose id embedding is hidden in a step, so that content alone is learned too.
  double id_dropout = 0.1;
  uint64_t seed = 1;
  int threads = 1;
  // With a budget the learning rate decays by time when that is faster, and the result depends on the
  // machine's speed.
  absl::Duration time_budget = absl::InfiniteDuration();

  // INVALID_ARGUMENT names the option and its range.
  absl::Status Check() const;
  // In step `step` (from 1), when the share `done` of the work is behind.
  double LearningRate(int64_t step, double done) const;
};

// Dense data (a mean history of 30 events or more, such as MovieLens): history 100, temperature .1, learning
// rate 2e-3, dropout .3. Else (such as Amazon Beauty): history 50, .07, 3e-3, .4. Up to 4,096 items: full
// softmax.
RetrieverOptions RetrieverOptionsFor(const Interactions& interactions);

}  // namespace waymark
