#include "training/retriever/retriever_manifest.h"

#include <algorithm>

#include "absl/time/time.h"

namespace waymark {
namespace {

std::string Rfc3339(absl::Time time) {
  return absl::FormatTime(absl::RFC3339_full, time, absl::UTCTimeZone());
}

void SetPosition(uint64_t log_epoch, LogOffset offset, storage::LogPosition* position) {
  storage::LogPosition::Part* part = position->add_parts();
  part->set_epoch(log_epoch);
  part->set_offset(offset);
}

}  // namespace

TrainedOn TrainedOnCorpus(const RetrieverCorpus& corpus, uint64_t log_epoch) {
  TrainedOn data;
  const Interactions& events = *corpus.interactions;
  int64_t first_us = INT64_MAX, last_us = INT64_MIN;
  LogOffset first = UINT64_MAX, last = 0;
  for (size_t u = 0; u < corpus.ends.size(); ++u) {
    data.users += corpus.ends[u] > corpus.start(u);
    for (uint64_t e = corpus.start(u); e < corpus.ends[u]; ++e) {
      first_us = std::min(first_us, events.times_us[e]);
      last_us = std::max(last_us, events.times_us[e]);
      first = std::min(first, events.offsets[e]);
      last = std::max(last, events.offsets[e]);
    }
  }
  SetPosition(log_epoch, first, &data.first);
  SetPosition(log_epoch, last, &data.last);
  data.first_time = Rfc3339(absl::FromUnixMicros(first_us));
  data.last_time = Rfc3339(absl::FromUnixMicros(last_us));
  data.events = static_cast<int64_t>(corpus.training_events);
  data.items = static_cast<int64_t>(corpus.vocabulary.size());
  return data;
}

storage::ModelManifest RetrieverManifest(const TrainedOn& data, const RetrieverOptions& options,
                                         const RetrieverRun& run, const RetrieverResult& result) {
  storage::ModelManifest manifest;
  manifest.set_kind("retriever");
  manifest.set_version(run.version);
  manifest.set_name(run.name);
  manifest.set_create_time(Rfc3339(run.clock->Now()));
  options.shape.ToNetwork(manifest.mutable_network());
  storage::ModelManifest::TrainingData* trained = manifest.mutable_data();
  *trained->mutable_first() = data.first;
  *trained->mutable_last() = data.last;
  trained->set_first_time(data.first_time);
  trained->set_last_time(data.last_time);
  trained->set_events(data.events);
  trained->set_users(data.users);
  trained->set_items(data.items);
  trained->set_seed(options.seed);

  const auto measure = [&](const std::string& name, double value) {
    (*manifest.mutable_metrics())[name] = value;
  };
  measure("epochs", result.epochs);
  measure("best_epoch", result.best_epoch);
  if (!result.epoch_losses.empty()) measure("loss", result.epoch_losses[result.best_epoch - 1]);
  if (!result.epoch_ndcg10.empty()) {
    measure("validation_ndcg10", result.validation_ndcg10);
    measure("validation_hit10", result.validation_hit10);
  }
  return manifest;
}

}  // namespace waymark
