#include "training/distributed/ranker_rank_trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "recommend/network/counter_random.h"
#include "training/distributed/epoch_parts.h"
#include "training/distributed/ranker_placement.h"
#include "training/evaluation/list_ndcg.h"
#include "training/lap.h"
#include "training/ranker/ranker_scoring.h"

namespace waymark {
namespace {

constexpr int kStopBit = 1, kSaveBit = 2;  // what a rank asks of all
constexpr uint64_t kRankerNoise = 26;      // beside the purposes of epoch_parts.cc and list_order.cc
constexpr size_t kNamedUsers = 5, kNdcgAt = 10;

using TrainerClock = std::chrono::steady_clock;
double SecondsAfter(TrainerClock::time_point start) {
  return std::chrono::duration<double>(TrainerClock::now() - start).count();
}

RankingLists NoLimit(const storage::ListsIndex& index) {
  return RankingLists(static_cast<size_t>(index.features_size()),
                      {.limit_bytes = std::numeric_limits<size_t>::max()});
}

}  // namespace

RankerRankTrainer::RankerRankTrainer(const RankerTrainerInput& input,
                                     const std::vector<RankerItems::Known>& items)
    : in_(input),
      job_(*input.job),
      group_(input.group),
      share_rows_(job_.share_rows && group_->size() > 1),
      own_(PartsOfRank(input.parts, group_->rank(), group_->size())),
      items_(items, {input.options.min_item_count, input.options.content_buckets}),
      config_(RankerConfigFor(input.options, input.index->features_size(),
                              static_cast<int64_t>(items_.vocabulary().size()), items_.content_buckets(),
                              input.index->lists_with_query() > 0)),
      model_(config_, input.options.seed, job_.precision,
             share_rows_ ? RowShare{group_->rank(), group_->size()} : RowShare()),
      pool_(job_.threads),
      ranks_(group_->size() > 1
                 ? std::make_unique<GroupRankerRanks>(group_, in_.parts, config_.width, share_rows_)
                 : nullptr),
      batches_(BatchesOfLists(*input.index, input.options.lists_per_batch)),
      trained_(model_.Trained()),
      moments_(model_.Moments()),
      best_(trained_.size()),
      checkpoints_(job_, in_.fingerprint, group_, CheckpointTensors()) {
  batchers_.reserve(own_.size());
  streams_.reserve(own_.size());
  for (uint64_t part : own_) {
    batchers_.emplace_back(config_, &items_);
    streams_.emplace_back(
        in_.reader, in_.index, part,
        ListStreamOptions{.seed = in_.options.seed, .parts = in_.parts, .epochs = in_.options.max_epochs});
    batch_lists_.push_back(NoLimit(*in_.index));
  }
  RankerNetwork& network = model_.network();
  torch::NoGradGuard no_gradient;
  for (int c = 0; c < in_.index->features_size(); ++c) {
    network->feature_mean[c] = in_.index->feature_mean(c);
    network->feature_scale[c] = in_.index->feature_scale(c);
  }
  if (share_rows_ && group_->rank() == 0 && job_.say) {
    job_.say(RankerPlacementTable(trained_, group_->size()));
  }
  start_ = last_progress_ = TrainerClock::now();
}

std::vector<CheckpointTensor> RankerRankTrainer::CheckpointTensors() {
  std::vector<CheckpointTensor> tensors;
  const auto share_of = [this](const RankerTensor& t) {
    return t.table && share_rows_ ? RowShare{group_->rank(), group_->size()} : RowShare();
  };
  for (std::vector<RankerTensor>* all : {&trained_, &moments_}) {
    for (RankerTensor& t : *all) tensors.push_back({t.name, &t.tensor, t.shape, share_of(t)});
  }
  for (size_t i = 0; i < trained_.size(); ++i) {
    const RankerTensor& t = trained_[i];
    tensors.push_back({absl::StrCat("best.", t.name), &best_[i], t.shape, share_of(t)});
  }
  return tensors;
}

absl::Status RankerRankTrainer::Prepare() {
  auto place = checkpoints_.Load();
  if (!place.ok()) return place.status();
  if (*place) {
    place_ = **std::move(place);
    resumed_ = true;
    elapsed_before_ = place_.elapsed_s;
  }
  return absl::OkStatus();
}

double RankerRankTrainer::Elapsed() const { return elapsed_before_ + SecondsAfter(start_); }

double RankerRankTrainer::Done() const {
  return (static_cast<double>(place_.epoch) +
          static_cast<double>(place_.batch) / static_cast<double>(batches_)) /
         in_.options.max_epochs;
}

int64_t RankerRankTrainer::ListsBefore(int64_t batch) const {
  int64_t lists = 0;
  for (const PartOrder& order : orders_) lists += order.FirstOf(batch, batches_);
  return lists;
}

double RankerRankTrainer::MeanLoss() const {
  return place_.loss_sum / static_cast<double>(std::max<int64_t>(ListsBefore(place_.batch), 1));
}

absl::Status RankerRankTrainer::TakeBatch(OwnBatch* batch) {
  const bool first = steps_here_ == 0;  // which is no prefetch
  batch->lists = ListsBefore(place_.batch + 1) - ListsBefore(place_.batch);
  for (size_t i = 0; i < own_.size(); ++i) {
    Lap lap;
    absl::Status read = streams_[i].Read(place_.epoch, place_.batch, batches_, &batch_lists_[i]);
    if (!read.ok()) return read;
    if (!first) wait_s_ += lap();
    if (batch_lists_[i].size() > 0) batch->parts.push_back(own_[i]);
  }
  Lap lap;
  std::vector<double> cpu(own_.size(), 0);
  std::vector<RankerBatch> made(own_.size());
  pool_.Run(own_.size(), [&](size_t i) {
    Lap own_lap;
    std::vector<size_t> all(batch_lists_[i].size());
    std::iota(all.begin(), all.end(), size_t{0});
    if (!all.empty()) made[i] = batchers_[i].Make(batch_lists_[i], all);
    own_lap(&cpu[i]);
  });
  for (size_t i = 0; i < own_.size(); ++i) {
    if (batch_lists_[i].size() > 0) batch->shards.push_back(std::move(made[i]));
  }
  data_s_ += lap();
  data_cpu_s_ += std::accumulate(cpu.begin(), cpu.end(), 0.0);
  return absl::OkStatus();
}

absl::Status RankerRankTrainer::Train(const std::stop_token& stop) {
  start_ = last_progress_ = TrainerClock::now();
  checkpoints_.Start();
  const auto out_of_patience = [this] {
    return place_.best_epoch >= 0 && place_.epoch - 1 - place_.best_epoch >= in_.options.patience;
  };
  while (place_.epoch < in_.options.max_epochs && !out_of_patience()) {
    orders_ = OrderOfLists(*in_.index, in_.parts, in_.options.seed, static_cast<uint64_t>(place_.epoch));
    if (absl::Status trained = TrainEpoch(stop); !trained.ok() || ended_early_) return trained;
    if (absl::Status finished = FinishEpoch(); !finished.ok()) return finished;
  }
  // So that writing the package can be tried again.
  if (absl::Status saved = SaveNow(); !saved.ok() && group_->rank() == 0 && job_.say)
    job_.say(absl::StrCat(saved.message(), "; the package is written without"));
  if (place_.best_epoch >= 0) {
    torch::NoGradGuard no_gradient;
    for (size_t i = 0; i < trained_.size(); ++i) trained_[i].tensor.copy_(best_[i]);
  }
  return absl::OkStatus();
}

absl::Status RankerRankTrainer::TrainEpoch(const std::stop_token& stop) {
  while (place_.batch < batches_) {
    OwnBatch batch;
    if (absl::Status taken = TakeBatch(&batch); !taken.ok()) return taken;
    if (batch.lists == 0) {  // of all parts: fewer lists than batches have parts
      ++place_.batch;
      continue;
    }
    AdamWOptions adam;
    adam.learning_rate = learning_rate_ =
        in_.options.learning_rate * (1 - Done() * (1 - in_.options.final_learning_rate_share));
    adam.weight_decay = in_.options.weight_decay;
    int want = stop.stop_requested() ? kStopBit : 0;
    if (group_->rank() == 0 && checkpoints_.Due()) want |= kSaveBit;
    if (ranks_) ranks_->Ask(want);
    // Seeded by the step, so that a run that goes on makes the same masks.
    const uint64_t noise =
        RandomKey(in_.options.seed, {static_cast<uint64_t>(place_.step) + 1, kRankerNoise});
    const double loss =
        model_.Step(batch.shards, adam, place_.step + 1,
                    {in_.options.dropout, in_.options.dropout, in_.options.id_dropout}, noise, &pool_,
                    {.parts = batch.parts, .lists = batch.lists, .ranks = ranks_.get()});
    if (!std::isfinite(loss)) return NotFinite(loss, batch);
    ++place_.batch;
    ++place_.step;
    ++steps_here_;
    place_.loss_sum += loss * static_cast<double>(batch.lists);
    lists_here_ += batch.lists;
    const int asked = ranks_ ? ranks_->asked() : want;
    if (job_.on_step) job_.on_step(place_.step, loss);
    if (SecondsAfter(last_progress_) >= absl::ToDoubleSeconds(job_.progress_interval))
      ReportProgress(loss, false);
    if ((asked & kStopBit) != 0) return Stopped();
    if (job_.max_steps > 0 && place_.step >= job_.max_steps) {
      ended_early_ = true;
      return SaveNow();
    }
    if ((asked & kSaveBit) != 0) {
      if (absl::Status saved = Save(); !saved.ok()) return saved;
    } else {
      checkpoints_.PublishWritten(place_.step);
    }
  }
  return absl::OkStatus();
}

absl::Status RankerRankTrainer::NotFinite(double loss, const OwnBatch& batch) {
  std::string own, where;
  for (size_t s = 0; s < batch.parts.size(); ++s) {
    if (std::isfinite(model_.part_loss(s))) continue;
    const size_t i = static_cast<size_t>(std::find(own_.begin(), own_.end(), batch.parts[s]) - own_.begin());
    std::vector<std::string> users;
    for (size_t l = 0; l < std::min(batch_lists_[i].size(), kNamedUsers); ++l) {
      users.push_back(absl::StrCat(batch_lists_[i][l].user));
    }
    absl::StrAppend(&own, own.empty() ? "" : ";", " part ", batch.parts[s], " with ", batch_lists_[i].size(),
                    " lists, of the users ", absl::StrJoin(users, ", "),
                    batch_lists_[i].size() > kNamedUsers ? ", ..." : "");
  }
  const std::vector<std::string> bad = group_->GatherText(own);
  for (size_t r = 0; r < bad.size(); ++r) {
    if (!bad[r].empty()) absl::StrAppend(&where, "; on rank ", r, bad[r]);
  }
  return absl::InternalError(
      absl::StrCat("the loss is ", loss, " in step ", place_.step + 1, " (epoch ", place_.epoch + 1,
                   ", batch ", place_.batch + 1, " of ", batches_, ")", where,
                   ". A smaller --learning-rate may help; the newest checkpoint is from before"));
}

absl::Status RankerRankTrainer::Save() {
  place_.elapsed_s = Elapsed();
  return checkpoints_.Save(place_);
}

absl::Status RankerRankTrainer::SaveNow() {
  const absl::Status saved = Save();
  return saved.ok() ? checkpoints_.Publish() : saved;
}

absl::Status RankerRankTrainer::Stopped() {
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

// Each rank reads the validation files of its own, one at a time. Where tables are spread over ranks, all of
// them score some lists at a time together, until nobody has any left.
absl::Status RankerRankTrainer::Validate() {
  at::Tensor sums = at::zeros({2}, at::kDouble);
  double* sum = sums.data_ptr<double>();
  RankingLists lists = NoLimit(*in_.index);
  size_t scored = 0;
  for (int f = group_->rank();;) {
    while (scored == lists.size() && f < in_.index->validation_size()) {
      lists = NoLimit(*in_.index);
      scored = 0;
      absl::Status read = in_.reader->ReadLists(in_.index->validation(f),
                                                [&](const RankingList& list) { return lists.Add(list); });
      if (!read.ok()) return read;
      f += group_->size();
    }
    std::vector<size_t> some(std::min(lists.size() - scored, kScoredTogether * batchers_.size()));
    std::iota(some.begin(), some.end(), scored);
    at::Tensor left = at::scalar_tensor(static_cast<int64_t>(some.size()), at::kLong).view({1});
    if (share_rows_) group_->Sum(left);
    if (left.item<int64_t>() == 0) break;
    const auto scores =
        share_rows_ ? ScoreSpreadWith(model_, absl::MakeSpan(batchers_), &pool_, lists, some, ranks_.get())
                    : ScoreWith(model_, absl::MakeSpan(batchers_), &pool_, lists, some);
    for (size_t i = 0; i < scores.size(); ++i) {
      sum[0] += ListNdcg(scores[i], lists[some[i]].gains, kNdcgAt);
    }
    sum[1] += static_cast<double>(scores.size());
    scored += some.size();
  }
  group_->Sum(sums);
  if (sum[1] == 0) return absl::OkStatus();
  place_.ndcg10.push_back(sum[0] / sum[1]);
  if (place_.ndcg10.back() > place_.best_ndcg10) {
    place_.best_ndcg10 = place_.ndcg10.back();
    place_.best_epoch = place_.epoch;
    for (size_t i = 0; i < trained_.size(); ++i) best_[i] = trained_[i].tensor.clone();
  }
  return absl::OkStatus();
}

absl::Status RankerRankTrainer::FinishEpoch() {
  const auto before = TrainerClock::now();
  place_.losses.push_back(MeanLoss());
  if (absl::Status validated = Validate(); !validated.ok()) return validated;
  validation_s_ += SecondsAfter(before);
  ReportProgress(place_.losses.back(), true);
  ++place_.epoch;
  place_.batch = 0;
  place_.loss_sum = 0;
  return absl::OkStatus();
}

void RankerRankTrainer::ReportProgress(double step_loss, bool epoch_finished) {
  last_progress_ = TrainerClock::now();
  if (!job_.progress) return;
  JobProgress p;
  p.unit = "lists";
  p.epoch = static_cast<int>(place_.epoch) + 1;
  p.epochs = in_.options.max_epochs;
  p.step = place_.step;
  p.done = std::min(Done(), 1.0);
  p.loss = epoch_finished ? place_.losses.back() : MeanLoss();
  p.step_loss = step_loss;
  p.learning_rate = learning_rate_;
  p.validation_ndcg10 = place_.ndcg10.empty() ? -1 : place_.ndcg10.back();
  p.epoch_finished = epoch_finished;
  const double here = SecondsAfter(start_);
  p.tokens_per_second = here > 0 ? static_cast<double>(lists_here_) / here : 0;
  p.times = model_.times();
  p.times.wait = wait_s_;
  p.times.data = data_s_;
  p.elapsed = absl::Seconds(Elapsed());
  p.time_left = p.done > 0 ? absl::Seconds(Elapsed() * (1 - p.done) / p.done) : absl::InfiniteDuration();
  job_.progress(p);
}

}  // namespace waymark
