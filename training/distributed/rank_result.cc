// What a rank hands on at its end: the package and the numbers of the report.
#include <algorithm>
#include <map>

#include "recommend/network/counter_random.h"
#include "training/distributed/mesh/whole_encoder.h"
#include "training/distributed/rank_times.h"
#include "training/distributed/rank_trainer.h"
#include "training/retriever/retriever_manifest.h"

namespace waymark {
namespace {

struct SystemClock : Clock {
  absl::Time Now() const override { return absl::Now(); }
};

// The items that a package names, which are those with a row, and their rows in that order in the place of
// the table. The others it serves as items that training has not seen.
std::vector<std::string> TakeNamed(const RetrieverCorpus& corpus, TensorData* ids) {
  if (corpus.id_rows == nullptr) return corpus.vocabulary;
  std::vector<std::string> named;
  const int64_t row_bytes = ids->shape[1] * static_cast<int64_t>(sizeof(float));
  std::vector<uint8_t> rows;
  for (size_t i = 0; i < corpus.vocabulary.size(); ++i) {
    const int64_t row = corpus.IdRow(static_cast<int64_t>(i));
    if (row == kNoRow) continue;
    named.push_back(corpus.vocabulary[i]);
    const auto from = ids->bytes.begin() + row * row_bytes;
    rows.insert(rows.end(), from, from + row_bytes);
  }
  ids->shape[0] = static_cast<int64_t>(named.size());
  ids->bytes = std::move(rows);
  return named;
}

}  // namespace

void RankTrainer::GatherTables(TensorMap* tensors) {
  const bool wanted = group_->rank() == 0;
  const auto shapes =
      model_.shape.Tables(in_.vocabulary.RowsFor(static_cast<int64_t>(corpus_.vocabulary.size())));
  const at::Tensor* own[] = {&model_.tables.id, &model_.tables.buckets};
  for (size_t t = 0; t < shapes.size(); ++t) {
    if (share_rows_ && model_.share.encoder.items) {
      GatherShares(data_, *own[t], shapes[t].shape[0], wanted ? &(*tensors)[shapes[t].name] : nullptr);
    } else if (wanted) {
      (*tensors)[shapes[t].name] = ToTensorData(*own[t]);
    }
  }
}

absl::Status RankTrainer::Write(JobResult* result) {
  if (ended_early_) return absl::OkStatus();
  TensorMap tensors;
  GatherTables(&tensors);
  GatherEncoder(model_, mesh_, &tensors);
  std::string said, hash;
  if (group_->rank() == 0) {
    static const SystemClock clock;
    RetrieverRun run;
    run.version = job_.version;
    run.clock = &clock;
    RetrieverResult trained;
    trained.epochs = static_cast<int>(place_.epoch);
    trained.best_epoch = static_cast<int>(best_.dense.defined() ? place_.best_epoch + 1 : place_.epoch);
    trained.validation_ndcg10 = std::max(place_.best_ndcg10, 0.0);
    trained.validation_hit10 = place_.best_hit10;
    trained.epoch_losses = place_.losses;
    trained.epoch_ndcg10 = place_.ndcg10;
    const storage::ExamplesIndex& index = *in_.index;
    const TrainedOn data = {index.first(),  index.last(),     index.first_time(), index.last_time(),
                            index.events(), index.examples(), index.item_count()};
    std::map<std::string, std::vector<std::string>> names;
    names["items"] = TakeNamed(corpus_, &tensors["items.id"]);
    auto package =
        WriteModelPackage(job_.package, RetrieverManifest(data, in_.options, run, trained), tensors, names);
    if (package.ok()) hash = package->content_sha256;
    said = std::string(package.status().message());
  }
  const std::string problem = group_->GatherText(said)[0];
  if (!problem.empty()) return absl::UnavailableError(problem);
  result->package_sha256 = group_->GatherText(hash)[0];
  checkpoints_.RemoveAll();
  return absl::OkStatus();
}

void RankTrainer::Report(JobResult* result) {
  result->ranks = group_->size();
  result->backend = group_->backend();
  if (peers_) result->mesh = mesh_.shape().Text();
  result->parts = in_.parts;
  result->precision = PrecisionText(job_.precision);
  result->epochs = static_cast<int>(place_.epoch);
  result->best_epoch = static_cast<int>(best_.dense.defined() ? place_.best_epoch + 1 : place_.epoch);
  result->steps = steps_here_;
  result->tokens = tokens_here_;
  result->validation_ndcg10 = std::max(place_.best_ndcg10, 0.0);
  result->validation_hit10 = place_.best_hit10;
  result->epoch_losses = place_.losses;
  result->epoch_ndcg10 = place_.ndcg10;
  result->threads = job_.threads;
  GatherTimes(group_, Times(), job_.threads, result);
  result->validation_seconds = validation_s_;
  result->checkpoint_seconds = checkpoints_.seconds();
  result->bytes_exchanged = mesh_.bytes_sent();
  result->bytes_read = in_.reader->bytes_read();
  result->table_bytes =
      (model_.tables.id.numel() + 2 * model_.id_moments.first.numel()) * static_cast<int64_t>(sizeof(float));
  result->all_table_bytes =
      result->table_bytes + (model_.tables.buckets.numel() + 2 * model_.bucket_moments.first.numel()) *
                                static_cast<int64_t>(sizeof(float));
  if (vocabulary_) result->vocabulary = vocabulary_->Use();
  result->checkpoints = checkpoints_.written();
  result->failed_checkpoints = checkpoints_.failed();
  result->resumed = resumed_;
  result->stopped_early = ended_early_;
}

}  // namespace waymark
