#include "training/ranker/ranker_trainer.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "rank/network/ranker_tensors.h"
#include "training/evaluation/list_ndcg.h"
#include "training/ranker/feature_moments.h"
#include "training/ranker/ranker_checkpoint.h"
#include "training/ranker/ranker_model.h"
#include "training/ranker/ranker_scoring.h"

namespace waymark {
namespace {

constexpr size_t kReported = 10;  // nDCG@10
// Parts of a batch. Of the recipe and not of the machine, so that the result does not depend on `threads`.
constexpr size_t kShards = 4;

uint64_t Mix(uint64_t x) {  // splitmix64
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// The order in which an epoch sees the lists: Fisher-Yates, a function of seed and epoch alone.
std::vector<size_t> EpochOrder(std::vector<size_t> lists, uint64_t seed, int epoch) {
  uint64_t state = Mix(seed ^ Mix(static_cast<uint64_t>(epoch)));
  for (size_t i = lists.size(); i > 1; --i) {
    state = Mix(state);
    std::swap(lists[i - 1], lists[state % i]);
  }
  return lists;
}

void SetScaling(const FeatureMoments& moments, RankerNetwork* network) {
  torch::NoGradGuard no_gradient;
  for (size_t c = 0; c < moments.mean.size(); ++c) {
    (*network)->feature_mean[static_cast<int64_t>(c)] = moments.mean[c];
    (*network)->feature_scale[static_cast<int64_t>(c)] = moments.Scale(c);
  }
}

class Trainer {
 public:
  Trainer(const RankingLists& train, const RankingLists& validation, const ItemDirectory& directory,
          const RankerTrainerOptions& options)
      : options_(options),
        train_(train),
        validation_(validation.size() > 0 ? validation : train),
        items_(train, validation, directory, {options.min_item_count, options.content_buckets}),
        pool_(options.threads) {
    SplitLists(validation.size() > 0);
    const RankerConfig config = RankerConfigFor(options, static_cast<int64_t>(train.feature_count()),
                                                static_cast<int64_t>(items_.vocabulary().size()),
                                                items_.content_buckets(), train.with_query() > 0);
    model_ = std::make_unique<RankerModel>(config, options.seed);
    for (size_t s = 0; s < kShards; ++s) batchers_.emplace_back(config, &items_);
    SetScaling(MomentsOf(train_, train_lists_), &model_->network());
    fingerprint_ = options.checkpoint_folder.empty() ? 0 : RankerFingerprint(train, validation, options);
  }

  absl::StatusOr<TrainedRanker> Run(const RankerProgressCallback& progress, const std::stop_token& stop) {
    if (train_lists_.empty()) {
      return absl::InvalidArgumentError("ranker training: validation_share leaves no list to train on");
    }
    if (auto status = Restore(); !status.ok()) return status;
    while (state_.epoch < options_.max_epochs && !OutOfPatience()) {
      if (auto status = RunEpoch(progress, stop); !status.ok()) return status;
    }
    std::error_code ignored;
    if (!options_.checkpoint_folder.empty()) {
      std::filesystem::remove(RankerCheckpointFile(options_), ignored);
    }
    return Finish();
  }

 private:
  void SplitLists(bool validation_given) {
    for (size_t i = 0; i < train_.size(); ++i) {
      const double u = static_cast<double>(Mix(i ^ Mix(options_.seed)) >> 11) * 0x1p-53;
      const bool held_out = !validation_given && u < options_.validation_share;
      (held_out ? validation_lists_ : train_lists_).push_back(i);
    }
    if (!validation_given) return;
    validation_lists_.resize(validation_.size());
    std::iota(validation_lists_.begin(), validation_lists_.end(), size_t{0});
  }

  bool OutOfPatience() const {
    return state_.best_epoch >= 0 && state_.epoch - 1 - state_.best_epoch >= options_.patience;
  }

  absl::Status Restore() {
    if (options_.checkpoint_folder.empty()) return absl::OkStatus();
    auto checkpoint = LoadRankerCheckpoint(RankerCheckpointFile(options_), fingerprint_);
    if (absl::IsNotFound(checkpoint.status())) return absl::OkStatus();
    if (!checkpoint.ok()) return checkpoint.status();
    if (auto status = model_->ReadState("now.", checkpoint->tensors); !status.ok()) return status;
    for (auto& [name, data] : checkpoint->tensors) {
      if (name.rfind("best.", 0) == 0) best_[name.substr(5)] = std::move(data);
    }
    state_ = checkpoint->state;
    return absl::OkStatus();
  }

  absl::Status Save() const {
    if (options_.checkpoint_folder.empty()) return absl::OkStatus();
    RankerCheckpoint checkpoint{state_, {}};
    model_->AppendState("now.", &checkpoint.tensors);
    for (const auto& [name, data] : best_) checkpoint.tensors["best." + name] = data;
    return SaveRankerCheckpoint(RankerCheckpointFile(options_), fingerprint_, std::move(checkpoint));
  }

  absl::Status RunEpoch(const RankerProgressCallback& progress, const std::stop_token& stop) {
    const std::vector<size_t> order = EpochOrder(train_lists_, options_.seed, state_.epoch);
    const auto batch_lists = static_cast<size_t>(options_.lists_per_batch);
    for (size_t first = static_cast<size_t>(state_.batches) * batch_lists; first < order.size();
         first += batch_lists) {
      if (stop.stop_requested()) {
        if (auto status = Save(); !status.ok()) return status;
        return absl::CancelledError(absl::StrCat(
            "ranker training was stopped in epoch ", state_.epoch + 1,
            options_.checkpoint_folder.empty() ? "" : "; the same call goes on from its checkpoint"));
      }
      const auto chosen = absl::MakeConstSpan(order).subspan(first, batch_lists);
      TrainBatch(chosen, order.size());
      if (!std::isfinite(state_.loss_sum)) {
        return absl::InternalError("ranker training: the loss is not finite; try a lower learning_rate");
      }
      if (progress) progress(Progress(order.size(), false));
      if (state_.step % options_.checkpoint_steps == 0) {
        if (auto status = Save(); !status.ok()) return status;
      }
    }
    EndEpoch();
    if (progress) progress(Progress(order.size(), true));
    return Save();
  }

  void TrainBatch(absl::Span<const size_t> chosen, size_t epoch_lists) {
    const double epoch_part =
        static_cast<double>(state_.loss_lists) / static_cast<double>(std::max<size_t>(epoch_lists, 1));
    const double done = (state_.epoch + epoch_part) / options_.max_epochs;
    AdamWOptions adam;
    adam.learning_rate = options_.learning_rate * (1 - done * (1 - options_.final_learning_rate_share));
    adam.weight_decay = options_.weight_decay;
    ++state_.step;
    const size_t shards = std::min(kShards, chosen.size());
    std::vector<RankerBatch> batches(shards);
    pool_.Run(shards, [&](size_t s) {
      const size_t begin = chosen.size() * s / shards, end = chosen.size() * (s + 1) / shards;
      batches[s] = batchers_[s].Make(train_, chosen.subspan(begin, end - begin));
    });
    // Seeded by the step, so that a run that goes on makes the same masks.
    const uint64_t seed = Mix(options_.seed ^ Mix(static_cast<uint64_t>(state_.step)));
    const double loss = model_->Step(batches, adam, state_.step,
                                     {options_.dropout, options_.dropout, options_.id_dropout}, seed, &pool_);
    state_.loss_sum += loss * static_cast<double>(chosen.size());
    state_.loss_lists += static_cast<int64_t>(chosen.size());
    ++state_.batches;
  }

  void EndEpoch() {
    state_.last_loss = state_.loss_sum / static_cast<double>(std::max<int64_t>(state_.loss_lists, 1));
    state_.last_ndcg = 0;
    if (!validation_lists_.empty()) {
      const auto scores =
          ScoreWith(*model_, absl::MakeSpan(batchers_), &pool_, validation_, validation_lists_);
      for (size_t i = 0; i < scores.size(); ++i) {
        state_.last_ndcg += ListNdcg(scores[i], validation_[validation_lists_[i]].gains, kReported);
      }
      state_.last_ndcg /= static_cast<double>(scores.size());
    }
    // Without validation lists the newest weights are taken.
    if (validation_lists_.empty() || state_.last_ndcg > state_.best_ndcg) {
      state_.best_ndcg = state_.last_ndcg;
      state_.best_epoch = state_.epoch;
      best_ = model_->Weights();
    }
    ++state_.epoch;
    state_.batches = 0;
    state_.loss_sum = 0;
    state_.loss_lists = 0;
  }

  RankerProgress Progress(size_t epoch_lists, bool done) const {
    RankerProgress p;
    p.epoch = state_.epoch + (done ? 0 : 1);
    p.max_epochs = options_.max_epochs;
    p.epoch_lists = static_cast<int64_t>(epoch_lists);
    p.lists = done ? p.epoch_lists : state_.loss_lists;
    p.loss = done ? state_.last_loss
                  : state_.loss_sum / static_cast<double>(std::max<int64_t>(state_.loss_lists, 1));
    p.validation_ndcg = state_.last_ndcg;
    p.best_validation_ndcg = std::max(0.0, state_.best_ndcg);
    p.epoch_done = done;
    return p;
  }

  TrainedRanker Finish() {
    TrainedRanker result;
    result.config = model_->config();
    result.weights = std::move(best_);
    result.vocabulary = items_.vocabulary();
    result.seed = options_.seed;
    result.lists = static_cast<int64_t>(train_.size());
    result.lists_with_query = train_.with_query();
    for (size_t i = 0; i < train_.size(); ++i) {
      const RankingList list = train_[i];
      const bool first = i == 0;
      result.first_position = first ? list.position : std::min(result.first_position, list.position);
      result.last_position = first ? list.position : std::max(result.last_position, list.position);
      result.first_time_us = first ? list.time_us : std::min(result.first_time_us, list.time_us);
      result.last_time_us = first ? list.time_us : std::max(result.last_time_us, list.time_us);
    }
    result.metrics = {{"loss", state_.last_loss},
                      {"epochs", state_.epoch},
                      {"best_epoch", state_.best_epoch + 1},
                      {"training_lists", static_cast<double>(train_lists_.size())},
                      {"lists_without_target", static_cast<double>(train_.without_target())},
                      {"lists_over_memory_limit", static_cast<double>(train_.over_limit())},
                      {"validation_lists", static_cast<double>(validation_lists_.size())},
                      {"validation_ndcg_at_10", std::max(0.0, state_.best_ndcg)}};
    return result;
  }

  const RankerTrainerOptions options_;
  const RankingLists& train_;
  const RankingLists& validation_;
  const RankerItems items_;
  std::vector<size_t> train_lists_, validation_lists_;
  std::unique_ptr<RankerModel> model_;
  std::vector<RankerBatcher> batchers_;  // [kShards]
  ShardPool pool_;
  uint64_t fingerprint_ = 0;
  RankerTrainingState state_;
  TensorMap best_;
};

}  // namespace

absl::StatusOr<TrainedRanker> TrainRanker(const RankingLists& train, const RankingLists& validation,
                                          const ItemDirectory& directory, const RankerTrainerOptions& options,
                                          const RankerProgressCallback& progress, std::stop_token stop) {
  if (train.size() == 0) {
    return absl::InvalidArgumentError(absl::StrCat("ranker training: there are no lists to train on (",
                                                   train.without_target(),
                                                   " were left out, their target was not found)"));
  }
  if (validation.size() > 0 && validation.feature_count() != train.feature_count()) {
    return absl::InvalidArgumentError(absl::StrCat("ranker training: validation lists have ",
                                                   validation.feature_count(), " features, training lists ",
                                                   train.feature_count()));
  }
  if (auto status = CheckRankerOptions(options); !status.ok()) return status;
  try {
    at::set_num_threads(1);  // the pool's threads are what works side by side
    Trainer trainer(train, validation, directory, options);
    return trainer.Run(progress, stop);
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat("ranker training: ", e.what()));
  }
}

}  // namespace waymark
