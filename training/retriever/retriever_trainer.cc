#include "training/retriever/retriever_trainer.h"

#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "training/retriever/one_intra_op_thread.h"
#include "training/retriever/retriever_checkpoint.h"
#include "training/retriever/retriever_manifest.h"
#include "training/retriever/retriever_step.h"
#include "training/retriever/retriever_validation.h"

namespace waymark {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;
double SecondsSince(SteadyTime start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Trainer {
 public:
  Trainer(const RetrieverCorpus& corpus, const RetrieverOptions& options, const RetrieverRun& run)
      : corpus_(corpus),
        options_(options),
        run_(run),
        fingerprint_(absl::StrCat(corpus.fingerprint, run.init_from ? run.init_from->content_sha256 : "")),
        pool_(options.threads),
        model_(options.shape, corpus.vocabulary.size(), options.seed),
        step_(&model_, &corpus_, options_, &pool_) {}

  absl::Status Prepare() {
    if (run_.init_from) {
      if (absl::Status started = model_.StartFrom(*run_.init_from, corpus_); !started.ok()) return started;
    }
    if (run_.checkpoint_folder.empty()) return absl::OkStatus();
    absl::StatusOr<bool> resumed =
        LoadCheckpoint(run_.checkpoint_folder, fingerprint_, &model_, &place_, &best_);
    if (resumed.ok()) resumed_ = *resumed;
    return resumed.status();
  }

  absl::Status Train() {
    start_ = std::chrono::steady_clock::now();
    elapsed_before_ = place_.elapsed_s;
    last_progress_ = last_checkpoint_ = start_;
    while (place_.epoch < options_.epochs && !OutOfPatience() && Budget() < 1) {
      if (absl::Status done = TrainEpoch(); !done.ok()) return done;
      FinishEpoch();
    }
    // So that writing the package can be tried again.
    if (absl::Status saved = Checkpoint(); !saved.ok()) return saved;
    if (best_.dense.defined()) {
      model_.dense.flat.copy_(best_.dense);
      model_.tables.id.copy_(best_.id);
      model_.tables.buckets.copy_(best_.buckets);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<RetrieverResult> Write() {
    RetrieverResult result;
    result.epochs = static_cast<int>(place_.epoch);
    result.best_epoch = static_cast<int>(best_.dense.defined() ? place_.best_epoch + 1 : place_.epoch);
    result.validation_ndcg10 = std::max(place_.best_ndcg10, 0.0);
    result.validation_hit10 = place_.best_hit10;
    result.epoch_losses = place_.losses;
    result.epoch_ndcg10 = place_.ndcg10;
    result.elapsed = absl::Seconds(place_.elapsed_s);
    result.resumed = resumed_;
    storage::ModelManifest manifest =
        RetrieverManifest(TrainedOnCorpus(corpus_, run_.log_epoch), options_, run_, result);
    absl::StatusOr<ModelPackage> package = WriteModelPackage(
        run_.package_folder, std::move(manifest), model_.Weights(), {{"items", corpus_.vocabulary}});
    if (!package.ok()) return package.status();
    result.package = *std::move(package);
    if (!run_.checkpoint_folder.empty()) RemoveCheckpoint(run_.checkpoint_folder);
    return result;
  }

 private:
  bool OutOfPatience() const {
    return place_.best_epoch >= 0 && place_.epoch - 1 - place_.best_epoch >= options_.patience;
  }
  double Elapsed() const { return elapsed_before_ + SecondsSince(start_); }
  // Share of the time budget that is spent.
  double Budget() const {
    if (options_.time_budget == absl::InfiniteDuration()) return 0;
    return Elapsed() / absl::ToDoubleSeconds(options_.time_budget);
  }
  double Done(size_t batches) const {
    const double part = static_cast<double>(place_.batch) / static_cast<double>(std::max<size_t>(batches, 1));
    return (static_cast<double>(place_.epoch) + part) / options_.epochs;
  }

  double LearningRate(size_t batches) const {
    return options_.LearningRate(place_.step + 1, std::max(Done(batches), Budget()));
  }

  absl::Status TrainEpoch() {
    const std::vector<TrainingBatch> batches = BatchesOfEpoch(corpus_, options_, place_.epoch);
    while (place_.batch < static_cast<int64_t>(batches.size())) {
      if (run_.stop.stop_requested()) return Stopped();
      if (Budget() >= 1) break;
      const TrainingBatch& batch = batches[place_.batch];
      const double loss = step_.Run(batch, place_.step + 1, LearningRate(batches.size()));
      if (!std::isfinite(loss)) {
        return absl::InternalError(absl::StrCat("the loss is not finite in step ", place_.step + 1,
                                                "; a smaller learning_rate may help"));
      }
      ++place_.batch;
      ++place_.step;
      place_.loss_sum += loss;
      tokens_ += batch.tokens;
      if (SecondsSince(last_progress_) >= absl::ToDoubleSeconds(run_.progress_interval)) {
        Report(batches.size(), false);
      }
      if (SecondsSince(last_checkpoint_) >= absl::ToDoubleSeconds(run_.checkpoint_interval)) {
        if (absl::Status saved = Checkpoint(); !saved.ok()) return saved;
      }
    }
    return absl::OkStatus();
  }

  void FinishEpoch() {
    place_.losses.push_back(place_.loss_sum / static_cast<double>(std::max<int64_t>(place_.batch, 1)));
    if (options_.held_out > 0) {
      const RetrieverValidation v = ValidateRetriever(model_, corpus_, options_.validation_users, &pool_);
      if (v.users > 0) {
        place_.ndcg10.push_back(v.ndcg10);
        if (v.ndcg10 > place_.best_ndcg10) {
          place_.best_ndcg10 = v.ndcg10;
          place_.best_hit10 = v.hit10;
          place_.best_epoch = place_.epoch;
          best_ = {model_.dense.flat.clone(), model_.tables.id.clone(), model_.tables.buckets.clone()};
        }
      }
    }
    Report(std::max<int64_t>(place_.batch, 1), true);
    ++place_.epoch;
    place_.batch = 0;
    place_.loss_sum = 0;
    place_.elapsed_s = Elapsed();
  }

  absl::Status Checkpoint() {
    last_checkpoint_ = std::chrono::steady_clock::now();
    if (run_.checkpoint_folder.empty()) return absl::OkStatus();
    place_.elapsed_s = Elapsed();
    return SaveCheckpoint(run_.checkpoint_folder, fingerprint_, model_, place_, best_);
  }

  absl::Status Stopped() {
    if (absl::Status saved = Checkpoint(); !saved.ok()) return saved;
    return absl::CancelledError(absl::StrCat(
        "training was stopped in epoch ", place_.epoch + 1, " after ", place_.step, " steps",
        run_.checkpoint_folder.empty()
            ? ""
            : "; the same command goes on from the checkpoint in " + run_.checkpoint_folder.string()));
  }

  void Report(size_t batches, bool epoch_finished) {
    last_progress_ = std::chrono::steady_clock::now();
    if (!run_.progress) return;
    RetrieverProgress p;
    p.epoch = static_cast<int>(place_.epoch) + 1;
    p.epochs = options_.epochs;
    p.step = place_.step;
    p.done = std::min(std::max(Done(batches), Budget()), 1.0);
    p.loss = epoch_finished ? place_.losses.back()
                            : place_.loss_sum / static_cast<double>(std::max<int64_t>(place_.batch, 1));
    p.validation_ndcg10 = place_.ndcg10.empty() ? -1 : place_.ndcg10.back();
    p.epoch_finished = epoch_finished;
    const double here = SecondsSince(start_);
    p.events_per_second = here > 0 ? static_cast<double>(tokens_) / here : 0;
    p.elapsed = absl::Seconds(Elapsed());
    p.time_left = p.done > 0 ? absl::Seconds(Elapsed() * (1 - p.done) / p.done) : absl::InfiniteDuration();
    run_.progress(p);
  }

  const RetrieverCorpus& corpus_;
  const RetrieverOptions& options_;
  const RetrieverRun& run_;
  std::string fingerprint_;
  ShardPool pool_;
  RetrieverModel model_;
  RetrieverStep step_;
  TrainingPlace place_;
  BestWeights best_;
  bool resumed_ = false;
  SteadyTime start_, last_progress_, last_checkpoint_;
  double elapsed_before_ = 0;
  size_t tokens_ = 0;
};

}  // namespace

absl::StatusOr<RetrieverResult> TrainRetriever(const Interactions& interactions, const ItemDirectory& items,
                                               const RetrieverOptions& options, const RetrieverRun& run) {
  if (absl::Status checked = options.Check(); !checked.ok()) return checked;
  if (!run.clock) return absl::InvalidArgumentError("RetrieverRun.clock must be given");
  if (std::filesystem::exists(run.package_folder)) {
    return absl::AlreadyExistsError(absl::StrCat(run.package_folder.string(), " exists already"));
  }
  absl::StatusOr<RetrieverCorpus> corpus = MakeRetrieverCorpus(interactions, items, options);
  if (!corpus.ok()) return corpus.status();
  try {
    OneIntraOpThread one_thread;
    Trainer trainer(*corpus, options, run);
    if (absl::Status prepared = trainer.Prepare(); !prepared.ok()) return prepared;
    if (absl::Status trained = trainer.Train(); !trained.ok()) return trained;
    return trainer.Write();
  } catch (const c10::Error& e) {
    return absl::InternalError(
        absl::StrCat("LibTorch failed while a retriever was trained: ", e.what_without_backtrace()));
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        absl::StrCat("not enough memory to train a retriever of ", corpus->vocabulary.size(),
                     " items and width ", options.shape.width, "; make width or batch_tokens smaller"));
  }
}

}  // namespace waymark
