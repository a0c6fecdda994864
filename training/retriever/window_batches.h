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
  size_t tokens = 0;  // of the whole batch, on all ranks
  // The number of each of the shards in the whole batch; empty: 0, 1, ...
  std::vector<uint64_t> parts;
};

// A history of events [start, start + targets], cut into windows of at most `limit`; the first may be short,
// by a number from `key` and `user`.
void CutWindows(uint64_t start, uint64_t targets, uint64_t limit, uint64_t key, uint64_t user,
                std::vector<TrainingWindow>* out);

std::vector<TrainingBatch> BatchesOfEpoch(const RetrieverCorpus& corpus, const RetrieverOptions& options,
                                          uint64_t epoch);

}  // namespace waymark
