#include "training/distributed/rank_trainer.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "training/distributed/job_setup.h"
#include "training/retriever/retriever_manifest.h"
#include "training/retriever/retriever_validation.h"

namespace waymark {
namespace {

constexpr int64_t kPublishAfter = 8;  // steps: by then the parts are on the disk, and nobody waits
constexpr int kStop = 1, kSave = 2;   // what a rank asks of all
constexpr size_t kUsersNamed = 5;

using SteadyClock = std::chrono::steady_clock;
double SecondsFrom(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

struct SystemClock : Clock {
  absl::Time Now() const override { return absl::Now(); }
};

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

RowShare ShareOf(const RankGroup& group, bool share_rows) {
  return share_rows ? RowShare{group.rank(), group.size()} : RowShare{};
}

}  // namespace

RankTrainer::RankTrainer(const RankTrainerInput& input, const std::vector<ItemRecord>& items)
    : in_(input),
      job_(*input.job),
      group_(input.group),
      own_(PartsOfRank(input.parts, group_->rank(), group_->size())),
      share_rows_(job_.share_rows && group_->size() > 1),
      corpus_(CorpusOf(items, input.options)),
      batches_(BatchesOfShards(*input.index, input.options)),
      pool_(job_.threads),
      model_(input.options.shape, static_cast<int64_t>(items.size()), input.options.seed,
             ShareOf(*group_, share_rows_)),
      ranks_(group_->size() > 1 ? std::make_unique<GroupStepRanks>(group_, &model_, share_rows_) : nullptr),
      step_(&model_, &corpus_, OfThisRank(input.options, own_.size(), job_.threads), &pool_, ranks_.get()),
      loader_(
          [this](int64_t epoch) {
            return LoadEpoch(*in_.reader, *in_.index, in_.options, own_, in_.parts, epoch);
          },
          input.options.epochs) {
  if (!job_.checkpoints.empty()) {
    checkpoints_.emplace(job_.checkpoints, job_.keep_checkpoints, in_.fingerprint, group_);
  }
  start_ = last_progress_ = last_checkpoint_ = SteadyClock::now();
}

void RankTrainer::Say(const std::string& text) const {
  if (job_.say && group_->rank() == 0) job_.say(text);
}

std::vector<CheckpointTensor> RankTrainer::CheckpointTensors() {
  const std::vector<NamedShape> tables =
      in_.options.shape.Tables(static_cast<int64_t>(corpus_.vocabulary.size()));
  const std::vector<int64_t> dense = {model_.dense.flat.numel()}, id = tables[0].shape,
                             bucket = tables[1].shape;
  const RowShare own = ShareOf(*group_, share_rows_);
  return {{"dense", &model_.dense.flat, dense, {}},
          {"dense.first", &model_.dense_moments.first, dense, {}},
          {"dense.second", &model_.dense_moments.second, dense, {}},
          {"id", &model_.tables.id, id, own},
          {"id.first", &model_.id_moments.first, id, own},
          {"id.second", &model_.id_moments.second, id, own},
          {"buckets", &model_.tables.buckets, bucket, {}},
          {"buckets.first", &model_.bucket_moments.first, bucket, {}},
          {"buckets.second", &model_.bucket_moments.second, bucket, {}},
          {"best.dense", &best_.dense, dense, {}},
          {"best.id", &best_.id, id, own},
          {"best.buckets", &best_.buckets, bucket, {}}};
}

absl::Status RankTrainer::Prepare() {
  if (!job_.init_from.empty()) {
    if (share_rows_) {
      return absl::InvalidArgumentError("--init-from and --share-rows do not go together yet; leave one out");
    }
    auto package = OpenModelPackage(job_.init_from);
    if (!package.ok()) return package.status();
    if (absl::Status started = model_.StartFrom(*package, corpus_); !started.ok()) return started;
  }
  if (!checkpoints_) return absl::OkStatus();
  auto loaded = checkpoints_->LoadNewest(CheckpointTensors());
  if (!loaded.ok()) return loaded.status();
  if (!*loaded) return absl::OkStatus();
  for (const std::string& refused : (*loaded)->refused)
    Say(absl::StrCat("a damaged checkpoint is passed over: ", refused));
  place_ = (*loaded)->place;
  resumed_ = true;
  elapsed_before_ = place_.elapsed_s;
  Say(absl::StrCat("goes on from ", (*loaded)->folder, " of ", (*loaded)->ranks, " ranks: epoch ",
                   place_.epoch + 1, ", step ", place_.step));
  return absl::OkStatus();
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
  at::Tensor tokens = at::from_blob(epoch_.tokens.data(), {batches_}, at::kLong).clone();
  group_->Sum(tokens);
  batch_tokens_.assign(tokens.data_ptr<int64_t>(), tokens.data_ptr<int64_t>() + batches_);
  return absl::OkStatus();
}

TrainingBatch RankTrainer::BatchAt(int64_t b) const {
  TrainingBatch batch;
  batch.tokens = static_cast<size_t>(batch_tokens_[b]);
  batch.parts = own_;
  for (const auto& of_part : epoch_.windows) batch.shards.push_back(of_part[b]);
  return batch;
}

absl::Status RankTrainer::Train(std::stop_token stop) {
  start_ = last_progress_ = last_checkpoint_ = SteadyClock::now();
  const auto out_of_patience = [this] {
    return place_.best_epoch >= 0 && place_.epoch - 1 - place_.best_epoch >= in_.options.patience;
  };
  while (place_.epoch < in_.options.epochs && !out_of_patience()) {
    if (absl::Status taken = TakeEpoch(); !taken.ok()) return taken;
    if (absl::Status trained = TrainEpoch(stop); !trained.ok() || ended_early_) return trained;
    FinishEpoch();
  }
  // So that writing the package can be tried again.
  if (checkpoints_) {
    if (absl::Status saved = SaveCheckpoint(); saved.ok()) PublishCheckpoint().IgnoreError();
  }
  if (best_.dense.defined()) {
    model_.dense.flat.copy_(best_.dense);
    model_.tables.id.copy_(best_.id);
    model_.tables.buckets.copy_(best_.buckets);
  }
  return absl::OkStatus();
}

absl::Status RankTrainer::TrainEpoch(const std::stop_token& stop) {
  while (place_.batch < batches_) {
    batch_ = BatchAt(place_.batch);
    learning_rate_ = in_.options.LearningRate(place_.step + 1, Done());
    int want = stop.stop_requested() ? kStop : 0;
    const bool due = SecondsFrom(last_checkpoint_) >= absl::ToDoubleSeconds(job_.checkpoint_interval);
    if (checkpoints_ && group_->rank() == 0 && due) want |= kSave;
    if (ranks_) ranks_->Ask(want);
    const double loss = step_.Run(batch_, place_.step + 1, learning_rate_);
    if (!std::isfinite(loss)) return NotFinite(loss);
    ++place_.batch;
    ++place_.step;
    ++steps_here_;
    place_.loss_sum += loss;
    tokens_here_ += static_cast<int64_t>(batch_.tokens);
    saving_wanted_ = ((ranks_ ? ranks_->asked() : want) & kSave) != 0;
    const bool stopping = ((ranks_ ? ranks_->asked() : want) & kStop) != 0;
    if (job_.on_step) job_.on_step(place_.step, loss);
    if (SecondsFrom(last_progress_) >= absl::ToDoubleSeconds(job_.progress_interval))
      ReportProgress(loss, false);
    if (checkpoints_ && (saving_wanted_ || stopping)) {
      absl::Status saved = SaveCheckpoint();
      if (stopping && saved.ok()) saved = PublishCheckpoint();
      if (stopping && !saved.ok()) return saved;
    } else if (checkpoints_ && checkpoints_->pending() && place_.step >= published_after_) {
      PublishCheckpoint().IgnoreError();  // it has said so
    }
    if (stopping) {
      return absl::CancelledError(absl::StrCat(
          "training was stopped in epoch ", place_.epoch + 1, " after ", place_.step, " steps",
          checkpoints_
              ? absl::StrCat("; the same command goes on from the checkpoint in ", job_.checkpoints.string())
              : "; without --checkpoints nothing is left of it"));
    }
    if (job_.max_steps > 0 && place_.step >= job_.max_steps) {
      ended_early_ = true;
      if (checkpoints_) {
        if (absl::Status saved = SaveCheckpoint(); !saved.ok()) return saved;
        return PublishCheckpoint();
      }
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

std::string RankTrainer::BadParts(const TrainingBatch& batch) const {
  std::string bad;
  for (size_t s = 0; s < batch.shards.size(); ++s) {
    if (std::isfinite(step_.part_loss(s))) continue;
    std::vector<std::string> users;
    for (const TrainingWindow& window : batch.shards[s]) {
      const auto& starts = epoch_.events.starts;
      const size_t u = std::upper_bound(starts.begin(), starts.end(), window.first) - starts.begin() - 1;
      if (users.size() < kUsersNamed) users.push_back(absl::StrCat(epoch_.events.users[u]));
    }
    absl::StrAppend(&bad, "; part ", batch.parts[s], " with ", batch.shards[s].size(),
                    " windows, of the users ", absl::StrJoin(users, ", "),
                    batch.shards[s].size() > kUsersNamed ? ", ..." : "");
  }
  return bad;
}

absl::Status RankTrainer::NotFinite(double loss) {
  std::string where;
  const std::vector<std::string> bad = group_->GatherText(BadParts(batch_));
  for (size_t r = 0; r < bad.size(); ++r) {
    if (!bad[r].empty()) absl::StrAppend(&where, "; on rank ", r, bad[r].substr(1));
  }
  return absl::InternalError(
      absl::StrCat("the loss is ", loss, " in step ", place_.step + 1, " (epoch ", place_.epoch + 1,
                   ", batch ", place_.batch + 1, " of ", batches_, ")", where,
                   ". A smaller --learning-rate may help; the newest checkpoint is from before"));
}

at::Tensor RankTrainer::AllIds(const at::Tensor& own) {
  if (!share_rows_) return own;
  const int64_t items = static_cast<int64_t>(corpus_.vocabulary.size());
  std::vector<int64_t> counts;
  for (int r = 0; r < group_->size(); ++r) counts.push_back(RowShare{r, group_->size()}.rows(items));
  const std::vector<at::Tensor> shares = group_->GatherRows(own, counts);
  at::Tensor all = at::empty({items, own.size(1)}, at::kFloat);
  for (int r = 0; r < group_->size(); ++r) {
    if (counts[r] > 0) all.slice(0, r, items, group_->size()).copy_(shares[r]);
  }
  return all;
}

void RankTrainer::FinishEpoch() {
  const auto before = SteadyClock::now();
  place_.losses.push_back(place_.loss_sum / static_cast<double>(std::max<int64_t>(place_.batch, 1)));
  if (in_.options.held_out > 0) {
    const RetrieverValidation v =
        ValidateOn(in_.options.shape, model_.dense, {AllIds(model_.tables.id), model_.tables.buckets},
                   corpus_, epoch_.validation, &pool_);
    const double users = static_cast<double>(v.users);
    at::Tensor sums = at::empty({3}, at::kDouble);
    sums[0] = users;
    sums[1] = v.ndcg10 * users;
    sums[2] = v.hit10 * users;
    group_->Sum(sums);
    const double all = sums[0].item<double>();
    if (all > 0) {
      const double ndcg = sums[1].item<double>() / all;
      place_.ndcg10.push_back(ndcg);
      if (ndcg > place_.best_ndcg10) {
        place_.best_ndcg10 = ndcg;
        place_.best_hit10 = sums[2].item<double>() / all;
        place_.best_epoch = place_.epoch;
        best_ = {model_.dense.flat.clone(), model_.tables.id.clone(), model_.tables.buckets.clone()};
      }
    }
  }
  validation_s_ += SecondsFrom(before);
  ReportProgress(place_.losses.back(), true);
  ++place_.epoch;
  place_.batch = 0;
  place_.loss_sum = 0;
}

absl::Status RankTrainer::SaveCheckpoint() {
  const auto before = SteadyClock::now();
  if (checkpoints_->pending()) PublishCheckpoint().IgnoreError();
  place_.elapsed_s = Elapsed();
  const absl::Status begun = checkpoints_->Begin(CheckpointTensors(), place_);
  published_after_ = place_.step + kPublishAfter;
  last_checkpoint_ = SteadyClock::now();
  checkpoint_s_ += SecondsFrom(before);
  return begun;
}

absl::Status RankTrainer::PublishCheckpoint() {
  const auto before = SteadyClock::now();
  const absl::Status published = checkpoints_->Publish();
  ++(published.ok() ? checkpoints_written_ : checkpoints_failed_);
  if (!published.ok()) Say(absl::StrCat(published.message(), "; training goes on"));
  checkpoint_s_ += SecondsFrom(before);
  return published;
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
  p.times = step_.times();
  p.times.wait = wait_s_;
  p.elapsed = absl::Seconds(Elapsed());
  p.time_left = p.done > 0 ? absl::Seconds(Elapsed() * (1 - p.done) / p.done) : absl::InfiniteDuration();
  job_.progress(p);
}

absl::Status RankTrainer::Write(JobResult* result) {
  if (ended_early_) return absl::OkStatus();
  const at::Tensor ids = AllIds(model_.tables.id);
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
    TensorMap tensors;
    AppendTensors(model_.dense, &tensors);
    tensors["items.id"] = ToTensorData(ids);
    tensors["content.buckets"] = ToTensorData(model_.tables.buckets);
    auto package = WriteModelPackage(job_.package, RetrieverManifest(data, in_.options, run, trained),
                                     tensors, {{"items", corpus_.vocabulary}});
    if (package.ok()) hash = package->content_sha256;
    said = std::string(package.status().message());
  }
  const std::string problem = group_->GatherText(said)[0];
  if (!problem.empty()) return absl::UnavailableError(problem);
  result->package_sha256 = group_->GatherText(hash)[0];
  if (checkpoints_) checkpoints_->RemoveAll();
  return absl::OkStatus();
}

void RankTrainer::Report(JobResult* result) {
  result->ranks = group_->size();
  result->backend = group_->backend();
  result->parts = in_.parts;
  result->epochs = static_cast<int>(place_.epoch);
  result->best_epoch = static_cast<int>(best_.dense.defined() ? place_.best_epoch + 1 : place_.epoch);
  result->steps = steps_here_;
  result->tokens = tokens_here_;
  result->validation_ndcg10 = std::max(place_.best_ndcg10, 0.0);
  result->validation_hit10 = place_.best_hit10;
  result->epoch_losses = place_.losses;
  result->epoch_ndcg10 = place_.ndcg10;
  StepTimes own = step_.times();
  own.wait = wait_s_;
  at::Tensor numbers = at::empty({6}, at::kDouble);
  const double values[] = {own.wait, own.data, own.forward, own.backward, own.communication, own.optimizer};
  std::copy_n(values, 6, numbers.data_ptr<double>());
  const at::Tensor all = group_->Gather(numbers).contiguous();
  for (int r = 0; r < group_->size(); ++r) {
    const double* v = all.data_ptr<double>() + 6 * r;
    result->times.push_back({v[0], v[1], v[2], v[3], v[4], v[5]});
    result->train_seconds += result->times.back().All() / group_->size();
  }
  result->validation_seconds = validation_s_;
  result->checkpoint_seconds = checkpoint_s_;
  result->bytes_exchanged = group_->bytes_sent();
  result->bytes_read = in_.reader->bytes_read();
  result->table_bytes = 3 * model_.tables.id.numel() * static_cast<int64_t>(sizeof(float));
  result->checkpoints = checkpoints_written_;
  result->failed_checkpoints = checkpoints_failed_;
  result->resumed = resumed_;
  result->stopped_early = ended_early_;
}

}  // namespace waymark
