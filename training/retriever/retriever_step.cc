#include "training/retriever/retriever_step.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "recommend/network/pointwise_kernels.h"
#include "training/lap.h"
#include "training/retriever/pipeline_schedule.h"

namespace waymark {
namespace {

enum StepRandom : uint64_t { kNegatives = 11, kIdDropout = 12 };

float* Data(const at::Tensor& tensor) { return tensor.data_ptr<float>(); }

}  // namespace

RetrieverStep::RetrieverStep(RetrieverModel* model, const RetrieverCorpus* corpus,
                             const RetrieverOptions& options, ShardPool* pool, StepRanks* ranks,
                             const StepSetting& setting)
    : model_(model),
      corpus_(corpus),
      options_(options),
      pool_(pool),
      setting_(setting),
      first_(model->dense.slice.items),
      last_(model->dense.slice.final_norm),
      matrices_(setting.precision == TrainingPrecision::kBf16 ? std::make_optional<Bf16Matrices>(model->dense)
                                                              : std::nullopt),
      encoder_(model->shape, &model->dense,
               {setting.peers != nullptr ? setting.peers->parts() : nullptr, setting.recompute,
                matrices_ ? &*matrices_ : nullptr}),
      items_(static_cast<int64_t>(corpus->vocabulary.size())),
      ranks_(ranks),
      parts_left_(model->dense.blocks.size()),
      content_(&corpus->content, first_ ? model->shape.content_buckets : 0) {
  if (ranks_ != nullptr) {
    ids_ = ranks_->ids();
    buckets_ = ranks_->buckets();
  } else {
    whole_ids_ =
        std::make_unique<WholeTable>(model->tables.id, model->id_moments.first, model->id_moments.second);
    whole_buckets_ = std::make_unique<WholeTable>(model->tables.buckets, model->bucket_moments.first,
                                                  model->bucket_moments.second);
    ids_ = whole_ids_.get();
    buckets_ = whole_buckets_.get();
  }
  for (const BlockWeights& block : model->dense.blocks) {
    block_starts_.push_back(Data(block.attention.norm.weight) - Data(model->dense.flat));
  }
  block_starts_.push_back(model->dense.flat.numel());
  const auto parts = static_cast<size_t>(options.shards);
  size_t in_flight = setting.one_sum ? 1 : parts;
  if (setting.peers != nullptr) {
    in_flight = PartsInFlight(setting.peers->stage(), setting.peers->stages(), parts);
  }
  for (size_t s = 0; s < (setting.one_sum ? 1 : parts); ++s) {
    sums_.push_back(std::make_unique<PartSums>(*model));
    for (at::Tensor* t : {&sums_.back()->dvectors, &sums_.back()->dunits}) *t = at::empty({0}, at::kFloat);
  }
  for (size_t w = 0; w < in_flight; ++w) workspaces_.push_back(std::make_unique<EncoderWorkspace>());
  for (size_t s = 0; s < parts; ++s) {
    shards_.push_back(std::make_unique<Shard>(model->shape, setting.accumulate));
    Shard& shard = *shards_.back();
    shard.sums = sums_[s % sums_.size()].get();
    shard.workspace = workspaces_[s % workspaces_.size()].get();
    for (at::Tensor* t : {&shard.tokens, &shard.dstates}) *t = at::empty({0}, at::kFloat);
  }
}

int32_t RetrieverStep::PlaceOf(int64_t item) {
  if (corpus_->IdRow(item) != kNoRow || !corpus_->content.Of(item).empty()) return items_.Place(item);
  if (place_of_unknown_ < 0) place_of_unknown_ = items_.Place(item);
  return place_of_unknown_;
}

void RetrieverStep::CollectItems(const TrainingBatch& batch, int64_t number) {
  items_.Clear();
  place_of_unknown_ = -1;
  const int64_t all = corpus_->vocabulary.size();
  const uint64_t key = RandomKey(options_.seed, {static_cast<uint64_t>(number), kNegatives});
  if (options_.negatives >= all) {
    for (int64_t item = 0; item < all; ++item) PlaceOf(item);
  } else {
    for (int n = 0; n < options_.negatives; ++n) PlaceOf(RandomBelow(key, n, all));
  }
  contrasted_ = items_.size();
  const Interactions& events = *corpus_->interactions;
  for (size_t s = 0; s < shards_.size(); ++s) {
    Shard& shard = *shards_[s];
    for (Micro& micro : shard.micros) {
      micro.layout.Clear();
      micro.inputs.clear();
      micro.targets.clear();
    }
    uint64_t all = 0, before = 0;
    for (const TrainingWindow& window : batch.shards[s]) all += window.length;
    for (const TrainingWindow& window : batch.shards[s]) {
      Micro& micro = shard.micros[before * shard.micros.size() / all];
      if (micro.inputs.empty()) micro.first_token = before;
      micro.layout.Add(absl::MakeConstSpan(events.times_us).subspan(window.first, window.length));
      for (uint64_t e = window.first; e < window.first + window.length; ++e) {
        micro.inputs.push_back(PlaceOf(corpus_->rows[e]));
        micro.targets.push_back(PlaceOf(corpus_->rows[e + 1]));
      }
      before += window.length;
    }
  }
  // Without content an id is all that is known of an item: it stays.
  const uint64_t drop = RandomKey(options_.seed, {static_cast<uint64_t>(number), kIdDropout});
  id_rows_.clear();
  for (int64_t item : items_.rows()) {
    const bool hidden = !corpus_->content.Of(item).empty() && RandomUnit(drop, item) < options_.id_dropout;
    id_rows_.push_back(hidden ? kNoRow : corpus_->IdRow(item));
  }
  if (first_) content_.Collect(items_.rows());
}

void RetrieverStep::EncodeStepItems() {
  Lap lap;
  if (first_) {
    ItemTables tables = {ids_->Rows(id_rows_, &id_places_), model_->tables.buckets};
    std::vector<int64_t> places;
    if (content_.any()) tables.buckets = buckets_->Rows(content_.rows(), &places);
    if (ranks_ != nullptr) times_.communication += lap();
    std::vector<int64_t> all(items_.size());
    std::iota(all.begin(), all.end(), 0);
    EncodeItems(model_->dense, tables, content_.PlacesIn(places), id_places_, all, &vectors_, &pooled_);
    if (!last_) setting_.peers->SendItems(vectors_);
  } else if (last_) {
    vectors_ = at::empty({static_cast<int64_t>(items_.size()), model_->shape.width}, at::kFloat);
    setting_.peers->ReceiveItems(&vectors_);
    times_.communication += lap();
  }
  if (last_) {
    units_ = at::empty_like(vectors_);
    inverse_.resize(items_.size());
    NormalizeRows(Data(vectors_), items_.size(), model_->shape.width, Data(units_), inverse_.data());
  }
  if (matrices_) matrices_->Round(model_->dense);
  times_.forward += lap(&times_.own_cpu);
}

void RetrieverStep::AddUpShards() {
  PartSums& sum = *sums_[0];
  AddUpDense(0, ranks_ != nullptr ? block_starts_[0] : block_starts_.back());
  for (size_t s = 1; s < sums_.size(); ++s) {
    sum.dvectors.add_(sums_[s]->dvectors);
    sum.dunits.add_(sums_[s]->dunits);
  }
  if (last_) {
    NormalizeRowsBackward(Data(sum.dunits), Data(units_), inverse_.data(), items_.size(), model_->shape.width,
                          /*add=*/true, Data(sum.dvectors));
    if (!first_) setting_.peers->SendItems(sum.dvectors);
  } else if (first_) {
    setting_.peers->ReceiveItems(&sum.dunits);
    sum.dvectors.add_(sum.dunits);
  }
  kept_ids_.clear();
  shared_ids_ = 0;
  if (first_) AddUpItems(&sum);
}

void RetrieverStep::AddUpItems(PartSums* sums) {
  PartSums& sum = *sums;
  const auto n = static_cast<int64_t>(items_.size());
  const int64_t width = model_->shape.width;
  // Into the parts of an item's vector: its content, then its id or what stands for one.
  const int64_t content_width = model_->shape.content_width;
  if (content_.any()) {
    sum.gradients.projection.addmm_(pooled_.t(), sum.dvectors);
    const at::Tensor dpooled = at::mm(sum.dvectors, model_->dense.projection.t());
    bucket_gradients_.assign(content_.rows().size() * static_cast<size_t>(content_width), 0.0f);
    for (int64_t i = 0; i < n; ++i) {
      const absl::Span<const uint32_t> own = content_.Of(static_cast<size_t>(i));
      for (uint32_t place : own) {
        float* to = bucket_gradients_.data() + place * content_width;
        const float* from = Data(dpooled) + i * content_width;
        for (int64_t c = 0; c < content_width; ++c) to[c] += from[c] / static_cast<float>(own.size());
      }
    }
  }
  float* dvectors = Data(sum.dvectors);
  for (int64_t i = 0; i < n; ++i) {
    const float* from = dvectors + i * width;
    if (id_rows_[i] == kNoRow) {
      float* unknown = Data(sum.gradients.unknown);
      for (int64_t c = 0; c < width; ++c) unknown[c] += from[c];
    } else {
      std::copy_n(from, width, dvectors + kept_ids_.size() * width);
      kept_ids_.push_back(id_rows_[i]);
      if (i < contrasted_) ++shared_ids_;
    }
  }
}

double RetrieverStep::SquaredNormOf(const DenseWeights& gradient, double tables) {
  if (setting_.peers == nullptr) return SquaredNorm(Data(gradient.flat), gradient.flat.numel()) + tables;
  // What several parts hold alike counts once.
  const bool counts_all = gradient.slice.part == 0;
  double own = counts_all ? tables : 0;
  for (size_t t = 0; t < gradient.tensors.size(); ++t) {
    if (!counts_all && gradient.places[t].copied) continue;
    own += SquaredNorm(Data(gradient.tensors[t]), gradient.tensors[t].numel());
  }
  return setting_.peers->SumOfAll(own);
}

void RetrieverStep::Update(AdamStep step) {
  Lap lap;
  RetrieverModel& m = *model_;
  const DenseWeights& dense = sums_[0]->gradients;
  if (ranks_ != nullptr) ranks_->FinishSums();
  double tables = 0;
  if (first_) {
    tables = ids_->Collect(kept_ids_, shared_ids_, Data(sums_[0]->dvectors));
    if (content_.any()) tables += buckets_->Collect(content_.rows(), 0, bucket_gradients_.data());
  }
  if (ranks_ != nullptr) {
    times_.communication += lap();
  } else {
    times_.optimizer += lap(&times_.own_cpu);
  }
  const double norm = std::sqrt(SquaredNormOf(dense, tables));
  step.gradient_scale = std::min(1.0, options_.clip / (norm + 1e-12));
  if (ranks_ != nullptr) {
    ranks_->UpdateDense(step, dense.flat);
  } else {
    AdamRows(step, {0}, Data(dense.flat), m.dense_moments.Table(m.dense.flat));
  }
  if (first_) {
    ids_->Update(step);
    if (content_.any()) buckets_->Update(step);
  }
  times_.optimizer += lap(&times_.own_cpu);
}

double RetrieverStep::Run(const TrainingBatch& batch, int64_t number, double learning_rate) {
  at::NoGradGuard no_grad;
  Lap lap;
  CollectItems(batch, number);
  times_.data += lap(&times_.own_cpu);
  EncodeStepItems();
  if (setting_.peers != nullptr) setting_.peers->TakeWaited();
  lap();
  RunParts(batch, number);
  // The parts' own times say how the passes divide; threads ran them side by side.
  const double waited = setting_.peers != nullptr ? setting_.peers->TakeWaited() : 0;
  const double passes = std::max(lap() - waited, 0.0);
  double loss = 0, forward = 0, backward = 0;
  for (const auto& shard : shards_) {
    loss += shard->loss;
    forward += std::exchange(shard->forward_s, 0);
    backward += std::exchange(shard->backward_s, 0);
    times_.divided_cpu += std::exchange(shard->cpu_s, 0);
  }
  const double in_forward = passes * forward / std::max(forward + backward, 1e-9);
  times_.forward += in_forward;
  times_.backward += passes - in_forward;
  AddUpShards();
  const double waited_items = setting_.peers != nullptr ? setting_.peers->TakeWaited() : 0;
  times_.communication += waited + waited_items;
  times_.backward += std::max(lap(&times_.own_cpu) - waited_items, 0.0);
  if (ranks_ != nullptr) {
    if (block_starts_[0] > 0) ranks_->BeginSum(Data(sums_[0]->gradients.flat), 0, block_starts_[0]);
    loss = ranks_->AgreeOn(loss, static_cast<int64_t>(kept_ids_.size()) - shared_ids_,
                           static_cast<int64_t>(content_.rows().size()));
    if (setting_.peers != nullptr) setting_.peers->FinishSends();
    times_.communication += lap();
  }
  AdamStep adam;
  adam.learning_rate = learning_rate;
  adam.step = number;
  Update(adam);
  return loss;
}

}  // namespace waymark
