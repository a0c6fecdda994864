#include "training/retriever/window_batches.h"

#include <algorithm>

#include "recommend/network/counter_random.h"

namespace waymark {
namespace {

enum WindowRandom : uint64_t { kPhase = 1, kShuffle = 2 };

void CutCorpus(const RetrieverCorpus& corpus, uint64_t limit, uint64_t key,
               std::vector<TrainingWindow>* out) {
  for (size_t u = 0; u < corpus.ends.size(); ++u) {
    const uint64_t start = corpus.start(u);
    CutWindows(start, corpus.ends[u] > start ? corpus.ends[u] - start - 1 : 0, limit, key, u, out);
  }
}

TrainingBatch Distribute(const std::vector<TrainingWindow>& windows, size_t first, size_t last, int shards) {
  TrainingBatch batch;
  batch.shards.resize(shards);
  std::vector<size_t> load(shards, 0);
  for (size_t w = first; w < last; ++w) {
    const size_t s = std::min_element(load.begin(), load.end()) - load.begin();
    batch.shards[s].push_back(windows[w]);
    load[s] += windows[w].length;
    batch.tokens += windows[w].length;
  }
  return batch;
}

}  // namespace

void CutWindows(uint64_t start, uint64_t targets, uint64_t limit, uint64_t key, uint64_t user,
                std::vector<TrainingWindow>* out) {
  if (targets == 0) return;
  uint64_t at = 0;
  // The first window may be short, and so shifts the others.
  uint64_t take = targets <= limit ? targets : 1 + RandomBelow(key, user, limit);
  while (at < targets) {
    out->push_back({start + at, static_cast<uint32_t>(take)});
    at += take;
    take = std::min(limit, targets - at);
  }
}

std::vector<TrainingBatch> BatchesOfEpoch(const RetrieverCorpus& corpus, const RetrieverOptions& options,
                                          uint64_t epoch) {
  std::vector<TrainingWindow> windows;
  CutCorpus(corpus, options.shape.history_limit, RandomKey(options.seed, {epoch, kPhase}), &windows);
  const uint64_t key = RandomKey(options.seed, {epoch, kShuffle});
  for (size_t i = windows.size(); i > 1; --i) std::swap(windows[i - 1], windows[RandomBelow(key, i, i)]);
  std::vector<TrainingBatch> batches;
  size_t first = 0, tokens = 0;
  for (size_t w = 0; w < windows.size(); ++w) {
    tokens += windows[w].length;
    if (tokens < static_cast<size_t>(options.batch_tokens) && w + 1 < windows.size()) continue;
    batches.push_back(Distribute(windows, first, w + 1, options.shards));
    first = w + 1;
    tokens = 0;
  }
  return batches;
}

}  // namespace waymark
