// An epoch's order: each user's training events are cut into windows of at most `limit` (with a random phase,
// so that the cuts fall elsewhere in every epoch), the windows are shuffled and packed into batches. Every
// event but a user's first is predicted once an epoch.
//
// A function of (corpus, seed, epoch) alone, so that training can go on in the middle of an epoch.
#pragma once
#include <cstdint>
#include <vector>

#include "training/retriever/retriever_corpus.h"

namespace waymark {

// Inputs are the events [first, first + length), targets those one later.
struct TrainingWindow {
  uint64_t first = 0;
  uint32_t length = 0;
};

struct TrainingBatch {
  std::vector<std::vector<TrainingWindow>> shards;
  size_t tokens = 0;
};

std::vector<TrainingBatch> BatchesOfEpoch(const RetrieverCorpus& corpus, const RetrieverOptions& options,
                                          uint64_t epoch);

}  // namespace waymark
