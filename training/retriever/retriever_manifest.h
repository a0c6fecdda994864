// The manifest of a trained retriever: its network, what it was trained on, and how well it did.
#pragma once
#include "training/retriever/retriever_corpus.h"
#include "training/retriever/retriever_trainer.h"

namespace waymark {

// What a retriever was trained on.
struct TrainedOn {
  storage::LogPosition first, last;
  std::string first_time, last_time;  // RFC 3339
  int64_t events = 0, users = 0, items = 0;
};
TrainedOn TrainedOnCorpus(const RetrieverCorpus& corpus, uint64_t log_epoch);

storage::ModelManifest RetrieverManifest(const TrainedOn& data, const RetrieverOptions& options,
                                         const RetrieverRun& run, const RetrieverResult& result);

}  // namespace waymark
