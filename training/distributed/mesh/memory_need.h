// What memory a rank needs to train a model, by what it is for, before any of it is taken; and the limit that
// it is held against (`--memory-limit`).
//
// Weights, gradients, moments and copies are exact; which item has which row counts as weights. What passes
// of a batch keep is worked out for parts that are a quarter larger than the mean; examples are what the
// index says of them, twice (the next epoch's are read while this one trains). What the process has already
// when it is asked counts as it is.
#pragma once
#include <string>

#include "absl/status/status.h"
#include "training/distributed/mesh/placement_table.h"
#include "training/precision.h"
#include "training/retriever/dynamic_vocabulary.h"
#include "training/retriever/retriever_options.h"
#include "waymark/storage/examples.pb.h"

namespace waymark {

struct MemoryInput {
  PlacementInput placement;
  const storage::ExamplesIndex* index;
  RetrieverOptions options;
  VocabularyPolicy vocabulary;
  int parts = 1;  // of a batch
  int threads = 1;
  int accumulate = 1;
  bool checkpoint_activations = false, checkpoints = false, package = true;
  TrainingPrecision precision = TrainingPrecision::kFp32;
};

// Bytes.
struct MemoryNeed {
  int64_t weights = 0, gradients = 0, moments = 0;
  int64_t copies = 0;  // the best weights, and what a checkpoint or the package is written from
  int64_t passes = 0;  // activations, vectors of the batch's items, and those of validation beside them
  int64_t examples = 0;

  int64_t all() const { return weights + gradients + moments + copies + passes + examples; }
};
// Of a rank that holds this slice; the first one also holds the package.
MemoryNeed NeedOf(const MemoryInput& input, int slice);

// Private memory of this process: what RLIMIT_DATA counts.
int64_t MemoryInUse();
// RESOURCE_EXHAUSTED, with the need, the limit and what would divide it, when `limit` (bytes) is less than
// what the rank needs with what it has; else the system holds the process to the limit from here on.
absl::Status HoldToLimit(const MemoryInput& input, int rank, int64_t limit);

}  // namespace waymark
