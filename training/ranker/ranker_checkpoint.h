// Where an interrupted training goes on: the model with the optimizer's moments, the best weights so far and
// the counters, in one safetensors file that is replaced as a whole.
#pragma once
#include <filesystem>

#include "absl/status/statusor.h"
#include "store/package/safetensors.h"
#include "training/ranker/ranker_trainer.h"

namespace waymark {

struct RankerTrainingState {
  int epoch = 0;        // that is under way, from 0
  int64_t batches = 0;  // of it that are done
  int64_t step = 0;     // of all epochs
  double loss_sum = 0;  // of this epoch, over lists
  int64_t loss_lists = 0;
  double last_loss = 0;  // of the last finished epoch
  int best_epoch = -1;
  double best_ndcg = -1, last_ndcg = 0;
};

struct RankerCheckpoint {
  RankerTrainingState state;
  TensorMap tensors;  // "now." and "best." weights
};

// A number that changes with the lists and with each option that changes the result.
uint64_t RankerFingerprint(const RankingLists& train, const RankingLists& validation,
                           const RankerTrainerOptions& options);

std::filesystem::path RankerCheckpointFile(const RankerTrainerOptions& options);
absl::Status SaveRankerCheckpoint(const std::filesystem::path& file, uint64_t fingerprint,
                                  RankerCheckpoint checkpoint);
// NOT_FOUND: there is none. FAILED_PRECONDITION: of other lists or options.
absl::StatusOr<RankerCheckpoint> LoadRankerCheckpoint(const std::filesystem::path& file,
                                                      uint64_t fingerprint);

}  // namespace waymark
