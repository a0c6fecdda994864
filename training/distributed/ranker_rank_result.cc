// What a rank hands on at its end: the package and the numbers of the report.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "rank/network/ranker_tensors.h"
#include "training/distributed/rank_tables.h"
#include "training/distributed/rank_times.h"
#include "training/distributed/ranker_rank_trainer.h"
#include "training/ranker/trained_ranker.h"

namespace waymark {

absl::Status RankerRankTrainer::Write(JobResult* result) {
  if (ended_early_) return absl::OkStatus();
  TensorMap weights = model_.Weights();
  for (const RankerTensor& t : trained_) {
    if (!t.table || !share_rows_) continue;
    GatherShares(group_, t.tensor, t.shape[0], group_->rank() == 0 ? &weights[t.name] : nullptr);
  }
  std::string said, hash;
  if (group_->rank() == 0) {
    const storage::ListsIndex& index = *in_.index;
    TrainedRanker ranker;
    ranker.config = config_;
    ranker.weights = std::move(weights);
    ranker.vocabulary = items_.vocabulary();
    ranker.seed = in_.options.seed;
    ranker.lists = index.lists();
    ranker.lists_with_query = index.lists_with_query();
    ranker.metrics = {
        {"loss", place_.losses.empty() ? 0 : place_.losses.back()},
        {"epochs", static_cast<double>(place_.epoch)},
        {"best_epoch", static_cast<double>(place_.best_epoch >= 0 ? place_.best_epoch + 1 : place_.epoch)},
        {"training_lists", static_cast<double>(index.lists())},
        {"lists_without_target", static_cast<double>(index.without_target())},
        {"lists_over_memory_limit", 0},
        {"validation_lists", static_cast<double>(index.validation_lists())},
        {"validation_ndcg_at_10", std::max(0.0, place_.best_ndcg10)}};
    storage::ModelManifest manifest;
    manifest.set_name("ranker");
    manifest.set_version(job_.version);
    manifest.set_create_time(absl::FormatTime(absl::RFC3339_sec, absl::Now(), absl::UTCTimeZone()));
    manifest.set_retriever_sha256(index.retriever_sha256());
    auto* data = manifest.mutable_data();
    *data->mutable_first() = index.first();
    *data->mutable_last() = index.last();
    data->set_first_time(index.first_time());
    data->set_last_time(index.last_time());
    data->set_events(index.log_events());
    data->set_users(index.log_users());
    data->set_items(index.item_end());
    const RankerFeatures features{{index.features().begin(), index.features().end()},
                                  index.features_sha256()};
    auto package = WriteRankerPackage(job_.package, ranker, features, std::move(manifest));
    if (package.ok()) hash = package->content_sha256;
    said = std::string(package.status().message());
  }
  const std::string problem = group_->GatherText(said)[0];
  if (!problem.empty()) return absl::UnavailableError(problem);
  result->package_sha256 = group_->GatherText(hash)[0];
  checkpoints_.RemoveAll();
  return absl::OkStatus();
}

void RankerRankTrainer::Report(JobResult* result) {
  result->unit = "lists";
  result->ranks = group_->size();
  result->backend = group_->backend();
  result->parts = in_.parts;
  result->precision = PrecisionText(job_.precision);
  result->epochs = static_cast<int>(place_.epoch);
  result->best_epoch = static_cast<int>(place_.best_epoch >= 0 ? place_.best_epoch + 1 : place_.epoch);
  result->steps = steps_here_;
  result->tokens = lists_here_;
  result->validation_ndcg10 = std::max(place_.best_ndcg10, 0.0);
  result->epoch_losses = place_.losses;
  result->epoch_ndcg10 = place_.ndcg10;
  result->threads = job_.threads;
  StepTimes own = model_.times();
  own.wait = wait_s_;
  own.data = data_s_;
  own.divided_cpu += data_cpu_s_;
  GatherTimes(group_, own, job_.threads, result);
  result->validation_seconds = validation_s_;
  result->checkpoint_seconds = checkpoints_.seconds();
  result->bytes_exchanged = group_->bytes_sent();
  result->bytes_read = in_.reader->bytes_read();
  for (const std::vector<RankerTensor>* all : {&trained_, &moments_}) {
    for (const RankerTensor& t : *all) {
      if (!t.table) continue;
      const auto bytes = static_cast<int64_t>(t.tensor.nbytes());
      result->all_table_bytes += bytes;
      if (absl::StartsWith(t.name, "item_vectors")) result->table_bytes += bytes;
    }
  }
  result->checkpoints = checkpoints_.written();
  result->failed_checkpoints = checkpoints_.failed();
  result->resumed = resumed_;
  result->stopped_early = ended_early_;
}

}  // namespace waymark
