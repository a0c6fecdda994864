#include "training/distributed/rank_trainer.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "training/distributed/group_validation_items.h"
#include "training/distributed/mesh/mesh_validation.h"
#include "training/distributed/not_finite.h"

namespace waymark {
namespace {

constexpr int kStop = 1, kSave = 2;  // what a rank asks of all

using SteadyClock = std::chrono::steady_clock;
double SecondsFrom(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

RetrieverCorpus CorpusOf(const std::vector<ItemRecord>& items, const RetrieverOptions& options) {
  RetrieverCorpus corpus;
  std::vector<std::vector<uint64_t>> content;
  for (const ItemRecord& item : items) {
    corpus.vocabulary.push_back(item.id);
    content.push_back(item.content);
  }
  corpus.content = FoldContent(content, options.shape.content_buckets);
  return corpus;
}

RetrieverOptions OfThisRank(RetrieverOptions options, size_t parts, int threads) {
  options.shards = static_cast<int>(parts);
  options.threads = threads;
  return options;
}

std::unique_ptr<RankVocabulary> VocabularyFor(const RankTrainerInput& input, int64_t items) {
  if (!input.vocabulary.Limits(items)) return nullptr;
  return std::make_unique<RankVocabulary>(items, input.vocabulary, input.options.seed, input.mesh->data());
}

// What this rank holds of the model.
ModelShare ShareOf(const RankMesh& mesh, const RetrieverShape& shape, const JobOptions& job) {
  ModelShare share;
  share.encoder = mesh.shape().SliceOf(shape, mesh.slice());
  const RowShare of_data{mesh.data()->rank(), mesh.data()->size()};
  if (job.share_rows) share.rows = of_data;
  if (job.shard_optimizer) share.moments = of_data;
  return share;
}

StepSetting SettingOf(MeshPeers* peers, const JobOptions& job) {
  StepSetting setting;
  setting.peers = peers;
  setting.recompute = job.checkpoint_activations;
  setting.accumulate = job.accumulate;
  setting.precision = job.precision;
  // Who asks to save memory gets one gradient for all parts, where they do not go side by side.
  setting.one_sum =
      peers != nullptr ||
      (job.threads == 1 && (job.shard_optimizer || setting.recompute || setting.accumulate > 1));
  return setting;
}

}  // namespace

RankTrainer::RankTrainer(const RankTrainerInput& input, const std::vector<ItemRecord>& items)
    : in_(input),
      job_(*input.job),
      mesh_(*input.mesh),
      group_(mesh_.all()),
      data_(mesh_.data()),
      own_(PartsOfRank(input.parts, data_->rank(), data_->size())),
      share_rows_(job_.share_rows && data_->size() > 1),
      corpus_(CorpusOf(items, input.options)),
      batches_(BatchesOfShards(*input.index, input.options)),
      pool_(job_.threads),
      vocabulary_(VocabularyFor(input, static_cast<int64_t>(items.size()))),
      model_(input.options.shape, input.vocabulary.RowsFor(static_cast<int64_t>(items.size())),
             input.options.seed, ShareOf(mesh_, input.options.shape, job_)),
      peers_(mesh_.shape().slices() > 1 ? std::make_unique<MeshPeers>(mesh_) : nullptr),
      ranks_(group_->size() > 1 ? std::make_unique<GroupStepRanks>(&mesh_, &model_, share_rows_) : nullptr),
      step_(&model_, &corpus_, OfThisRank(input.options, own_.size(), job_.threads), &pool_, ranks_.get(),
            SettingOf(peers_.get(), job_)),
      loader_(
          [this](int64_t epoch) {
            return LoadEpoch(*in_.reader, *in_.index, in_.options, own_, in_.parts, epoch);
          },
          input.options.epochs),
      checkpoints_(job_, in_.fingerprint, group_,
                   TensorsOf(&model_, &best_, input.vocabulary.RowsFor(static_cast<int64_t>(items.size())),
                             vocabulary_.get(), mesh_)) {
  if (vocabulary_) corpus_.id_rows = &vocabulary_->now().rows_of_items();
  start_ = last_progress_ = SteadyClock::now();
}

absl::Status RankTrainer::Prepare() {
  if (!job_.init_from.empty()) {
    auto package = OpenModelPackage(job_.init_from);
    if (!package.ok()) return package.status();
    if (vocabulary_) {
      auto known = ReadVocabulary(*package, "items");
      if (!known.ok()) return known.status();
      vocabulary_->Give(*known, corpus_.vocabulary);
    }
    if (absl::Status started = model_.StartFrom(*package, corpus_); !started.ok()) return started;
  }
  auto place = checkpoints_.Load();
  if (!place.ok()) return place.status();
  if (*place) {
    place_ = **std::move(place);
    if (vocabulary_) {
      if (absl::Status loaded = vocabulary_->Load(); !loaded.ok()) return loaded;
    }
    resumed_ = true;
    elapsed_before_ = place_.elapsed_s;
  }
  return absl::OkStatus();
}

StepTimes RankTrainer::Times() const {
  StepTimes times = step_.times();
  times.wait = wait_s_;
  if (vocabulary_) times.Add(vocabulary_->times());
  return times;
}

double RankTrainer::Elapsed() const { return elapsed_before_ + SecondsFrom(start_); }

double RankTrainer::Done() const {
  return (static_cast<double>(place_.epoch) +
          static_cast<double>(place_.batch) / static_cast<double>(batches_)) /
         in_.options.epochs;
}

absl::Status RankTrainer::TakeEpoch() {
  const auto before = SteadyClock::now();
  absl::StatusOr<EpochData> data = loader_.Take(place_.epoch);
  if (steps_here_ > 0) wait_s_ += SecondsFrom(before);  // the first one is no prefetch
  if (!data.ok()) return data.status();
  epoch_ = *std::move(data);
  corpus_.interactions = &epoch_.events;
  corpus_.rows = std::move(epoch_.rows);
  corpus_.ends = std::move(epoch_.ends);
  if (vocabulary_) vocabulary_->TakeEpoch(&epoch_, &corpus_.rows, place_.batch);
  at::Tensor tokens = at::from_blob(epoch_.tokens.data(), {batches_}, at::kLong).clone();
  data_->Sum(tokens);
  batch_tokens_.assign(tokens.data_ptr<int64_t>(), tokens.data_ptr<int64_t>() + batches_);
  return absl::OkStatus();
}

// An option that leaves no item a row is said after the first epoch, not after the last.
absl::Status RankTrainer::CheckVocabulary() {
  if (!vocabulary_ || vocabulary_->now().used() > 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "no item was read ", in_.vocabulary.admit_after,
      " times in an epoch, so that none has a row of the item table; make --admit-after smaller"));
}

TrainingBatch RankTrainer::BatchAt(int64_t b) const {
  TrainingBatch batch;
  batch.tokens = static_cast<size_t>(batch_tokens_[b]);
  batch.parts = own_;
  for (const auto& of_part : epoch_.windows) batch.shards.push_back(of_part[b]);
  return batch;
}

absl::Status RankTrainer::Train(std::stop_token stop) {
  start_ = last_progress_ = SteadyClock::now();
  checkpoints_.Start();
  const auto out_of_patience = [this] {
    return place_.best_epoch >= 0 && place_.epoch - 1 - place_.best_epoch >= in_.options.patience;
  };
  while (place_.epoch < in_.options.epochs && !out_of_patience()) {
    if (absl::Status taken = TakeEpoch(); !taken.ok()) return taken;
    if (absl::Status trained = TrainEpoch(stop); !trained.ok() || ended_early_) return trained;
    if (absl::Status checked = CheckVocabulary(); !checked.ok()) return checked;
    FinishEpoch();
  }
  // So that writing the package can be tried again.
  if (absl::Status saved = SaveNow(); !saved.ok() && group_->rank() == 0 && job_.say)
    job_.say(absl::StrCat(saved.message(), "; the package is written without"));
  if (best_.dense.defined()) {
    model_.dense.flat.copy_(best_.dense);
    model_.tables.id.copy_(best_.id);
    model_.tables.buckets.copy_(best_.buckets);
    if (vocabulary_) return vocabulary_->TakeBest();
  }
  return absl::OkStatus();
}

absl::Status RankTrainer::TrainEpoch(const std::stop_token& stop) {
  while (place_.batch < batches_) {
    batch_ = BatchAt(place_.batch);
    learning_rate_ = in_.options.LearningRate(place_.step + 1, Done());
    int want = stop.stop_requested() ? kStop : 0;
    if (group_->rank() == 0 && checkpoints_.Due()) want |= kSave;
    if (ranks_) ranks_->Ask(want);
    if (vocabulary_) vocabulary_->BeforeStep(place_.batch, place_.step + 1, &model_);
    const double loss = step_.Run(batch_, place_.step + 1, learning_rate_);
    if (!std::isfinite(loss)) {
      return NotFiniteLoss(loss, step_, batch_, epoch_.events, place_, batches_, group_);
    }
    ++place_.batch;
    ++place_.step;
    ++steps_here_;
    place_.loss_sum += loss;
    tokens_here_ += static_cast<int64_t>(batch_.tokens);
    const int asked = ranks_ ? ranks_->asked() : want;
    if (job_.on_step) job_.on_step(place_.step, loss);
    if (SecondsFrom(last_progress_) >= absl::ToDoubleSeconds(job_.progress_interval))
      ReportProgress(loss, false);
    if ((asked & kStop) != 0) return Stopped();
    if (job_.max_steps > 0 && place_.step >= job_.max_steps) {
      ended_early_ = true;
      return SaveNow();
    }
    if ((asked & kSave) != 0) {
      if (absl::Status saved = Save(); !saved.ok()) return saved;
    } else {
      checkpoints_.PublishWritten(place_.step);
    }
  }
  return absl::OkStatus();
}

absl::Status RankTrainer::Save() {
  place_.elapsed_s = Elapsed();
  if (vocabulary_ && checkpoints_.on()) vocabulary_->Save();
  return checkpoints_.Save(place_);
}

absl::Status RankTrainer::SaveNow() {
  const absl::Status saved = Save();
  return saved.ok() ? checkpoints_.Publish() : saved;
}

absl::Status RankTrainer::Stopped() {
  const std::string where =
      absl::StrCat("training was stopped in epoch ", place_.epoch + 1, " after ", place_.step, " steps");
  if (absl::Status saved = SaveNow(); !saved.ok()) {
    return absl::Status(saved.code(), absl::StrCat(where, ", and ", saved.message()));
  }
  return absl::CancelledError(absl::StrCat(
      where, checkpoints_.on() ? absl::StrCat("; the same command goes on from the checkpoint in ",
                                              job_.checkpoints.string())
                               : "; without --checkpoints nothing is left of it"));
}

RetrieverValidation RankTrainer::Validate() {
  const bool has_items = model_.share.encoder.items;
  std::optional<OwnValidationItems> own;
  std::optional<GroupValidationItems> shared;
  if (share_rows_ && has_items) shared.emplace(data_, &model_, &corpus_, ranks_.get());
  if (!share_rows_ && has_items) own.emplace(&model_.dense, model_.tables, &corpus_);
  ValidationItems* items = shared ? &*shared : own ? own->get() : nullptr;
  if (peers_) return ValidateOnMesh(model_, items, corpus_, epoch_.validation, peers_.get(), &pool_);
  return ValidateOn(in_.options.shape, model_.dense, items, corpus_, epoch_.validation, &pool_);
}

void RankTrainer::FinishEpoch() {
  const auto before = SteadyClock::now();
  place_.losses.push_back(place_.loss_sum / static_cast<double>(std::max<int64_t>(place_.batch, 1)));
  if (in_.options.held_out > 0) {
    const RetrieverValidation v = Validate();
    const double users = static_cast<double>(v.users);
    at::Tensor sums = at::empty({3}, at::kDouble);
    sums[0] = users;
    sums[1] = v.ndcg10 * users;
    sums[2] = v.hit10 * users;
    data_->Sum(sums);
    const double all = sums[0].item<double>();
    if (all > 0) {
      const double ndcg = sums[1].item<double>() / all;
      place_.ndcg10.push_back(ndcg);
      if (ndcg > place_.best_ndcg10) {
        place_.best_ndcg10 = ndcg;
        place_.best_hit10 = sums[2].item<double>() / all;
        place_.best_epoch = place_.epoch;
        best_ = {model_.dense.flat.clone(), model_.tables.id.clone(), model_.tables.buckets.clone()};
        if (vocabulary_) vocabulary_->KeepBest();
      }
    }
  }
  validation_s_ += SecondsFrom(before);
  ReportProgress(place_.losses.back(), true);
  ++place_.epoch;
  place_.batch = 0;
  place_.loss_sum = 0;
}

void RankTrainer::ReportProgress(double step_loss, bool epoch_finished) {
  last_progress_ = SteadyClock::now();
  if (!job_.progress) return;
  JobProgress p;
  p.epoch = static_cast<int>(place_.epoch) + 1;
  p.epochs = in_.options.epochs;
  p.step = place_.step;
  p.done = std::min(Done(), 1.0);
  p.loss = epoch_finished ? place_.losses.back()
                          : place_.loss_sum / static_cast<double>(std::max<int64_t>(place_.batch, 1));
  p.step_loss = step_loss;
  p.learning_rate = learning_rate_;
  p.validation_ndcg10 = place_.ndcg10.empty() ? -1 : place_.ndcg10.back();
  p.epoch_finished = epoch_finished;
  const double here = SecondsFrom(start_);
  p.tokens_per_second = here > 0 ? static_cast<double>(tokens_here_) / here : 0;
  p.times = Times();
  p.elapsed = absl::Seconds(Elapsed());
  p.time_left = p.done > 0 ? absl::Seconds(Elapsed() * (1 - p.done) / p.done) : absl::InfiniteDuration();
  job_.progress(p);
}

}  // namespace waymark
