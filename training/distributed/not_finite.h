// What a loss that is not a number came from: the step, the batch, and on each rank the parts and their
// users. Includes LibTorch: for training/ only.
#pragma once
#include "training/distributed/epoch_parts.h"
#include "training/distributed/rank_group.h"
#include "training/retriever/retriever_checkpoint.h"
#include "training/retriever/retriever_step.h"

namespace waymark {

// INTERNAL, the same on every rank. place: before the step; batches: of the epoch.
absl::Status NotFiniteLoss(double loss, const RetrieverStep& step, const TrainingBatch& batch,
                           const Interactions& events, const TrainingPlace& place, int64_t batches,
                           RankGroup* group);

}  // namespace waymark
