// Where a training run stands, on disk: weights, moments, the best weights so far and the place in the
// schedule. Randomness has no state (counter_random.h), so this is all of it.
//
// The file is a safetensors file with a SHA-256 of its own, replaced atomically. Includes LibTorch: for
// training/ only.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "training/retriever/retriever_model.h"

namespace waymark {

struct TrainingPlace {
  int64_t epoch = 0;  // from 0
  int64_t batch = 0;  // of the epoch: the next one
  int64_t step = 0;   // done since the start
  int64_t best_epoch = -1;
  double best_ndcg10 = -1, best_hit10 = 0;
  double loss_sum = 0;         // of the epoch's batches so far
  double elapsed_s = 0;        // spent training, over all runs
  std::vector<double> ndcg10;  // of each finished epoch
  std::vector<double> losses;
};

struct BestWeights {
  at::Tensor dense, id, buckets;  // undefined: none yet
};

absl::Status SaveCheckpoint(const std::filesystem::path& folder, const std::string& fingerprint,
                            const RetrieverModel& model, const TrainingPlace& place, const BestWeights& best);

// false: there is none. FAILED_PRECONDITION: it belongs to other data or options. DATA_LOSS: it is damaged.
absl::StatusOr<bool> LoadCheckpoint(const std::filesystem::path& folder, const std::string& fingerprint,
                                    RetrieverModel* model, TrainingPlace* place, BestWeights* best);

void RemoveCheckpoint(const std::filesystem::path& folder);

}  // namespace waymark
