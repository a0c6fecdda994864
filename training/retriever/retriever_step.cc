#include "training/retriever/retriever_step.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "recommend/network/pointwise_kernels.h"
#include "training/lap.h"

namespace waymark {
namespace {

enum StepRandom : uint64_t { kNegatives = 11, kIdDropout = 12, kDropout = 13 };

float* Data(const at::Tensor& tensor) { return tensor.data_ptr<float>(); }

}  // namespace

RetrieverStep::RetrieverStep(RetrieverModel* model, const RetrieverCorpus* corpus,
                             const RetrieverOptions& options, ShardPool* pool, StepRanks* ranks)
    : model_(model),
      corpus_(corpus),
      options_(options),
      pool_(pool),
      encoder_(model->shape, &model->dense),
      place_of_(corpus->vocabulary.size(), -1),
      ranks_(ranks),
      parts_left_(model->shape.blocks) {
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
  for (int s = 0; s < options.shards; ++s) {
    shards_.push_back(std::make_unique<Shard>(model->shape));
    Shard& shard = *shards_.back();
    for (at::Tensor* t : {&shard.tokens, &shard.dvectors, &shard.dunits, &shard.dstates}) {
      *t = at::empty({0}, at::kFloat);
    }
  }
  bucket_gradients_.assign(model->tables.buckets.numel(), 0.0f);
}

int32_t RetrieverStep::Place(int64_t row) {
  if (place_of_[row] < 0) {
    place_of_[row] = static_cast<int32_t>(items_.size());
    items_.push_back(row);
  }
  return place_of_[row];
}

void RetrieverStep::CollectItems(const TrainingBatch& batch, int64_t number) {
  for (int64_t row : items_) place_of_[row] = -1;
  items_.clear();
  const int64_t all = corpus_->vocabulary.size();
  const uint64_t key = RandomKey(options_.seed, {static_cast<uint64_t>(number), kNegatives});
  if (options_.negatives >= all) {
    for (int64_t row = 0; row < all; ++row) Place(row);
  } else {
    for (int n = 0; n < options_.negatives; ++n) Place(RandomBelow(key, n, all));
  }
  contrasted_ = items_.size();
  const Interactions& events = *corpus_->interactions;
  for (size_t s = 0; s < shards_.size(); ++s) {
    Shard& shard = *shards_[s];
    shard.layout.Clear();
    shard.inputs.clear();
    shard.targets.clear();
    for (const TrainingWindow& window : batch.shards[s]) {
      shard.layout.Add(absl::MakeConstSpan(events.times_us).subspan(window.first, window.length));
      for (uint64_t e = window.first; e < window.first + window.length; ++e) {
        shard.inputs.push_back(Place(corpus_->rows[e]));
        shard.targets.push_back(Place(corpus_->rows[e + 1]));
      }
    }
  }
  // Without content an id is all that is known of an item: it stays.
  const uint64_t drop = RandomKey(options_.seed, {static_cast<uint64_t>(number), kIdDropout});
  id_rows_ = items_;
  for (int64_t& row : id_rows_) {
    if (!corpus_->content.Of(row).empty() && RandomUnit(drop, row) < options_.id_dropout) row = kNoRow;
  }
}

void RetrieverStep::RunShard(Shard* shard, uint64_t key, double scale) {
  at::NoGradGuard no_grad;
  const int64_t width = model_->shape.width, tokens = shard->inputs.size();
  Lap lap;
  shard->gradients.flat.zero_();
  shard->dvectors.resize_({static_cast<int64_t>(items_.size()), width}).zero_();
  shard->dunits.resize_({static_cast<int64_t>(items_.size()), width}).zero_();
  shard->loss = 0;
  if (tokens == 0) {
    for (int b = model_->shape.blocks - 1; b >= 0 && ranks_ != nullptr; --b) BlockDone(b);
    return;
  }
  shard->tokens.resize_({tokens, width});
  for (int64_t t = 0; t < tokens; ++t) {
    std::copy_n(Data(vectors_) + shard->inputs[t] * width, width, Data(shard->tokens) + t * width);
  }
  const EncoderDropout dropout{options_.dropout, key};
  encoder_.Forward(shard->layout, shard->tokens, dropout, &shard->workspace, &shard->states);
  SoftmaxInput input{shard->states, units_, contrasted_, shard->targets, model_->shape.temperature, scale};
  shard->loss = CosineSoftmax(input, &shard->softmax, &shard->dstates, &shard->dunits);
  shard->forward_s += lap(&shard->cpu_s);
  const std::function<void(int)> block_done = [this](int block) { BlockDone(block); };
  encoder_.Backward(shard->layout, shard->dstates, dropout, &shard->workspace, &shard->gradients,
                    &shard->dtokens, ranks_ != nullptr ? &block_done : nullptr);
  for (int64_t t = 0; t < tokens; ++t) {
    const float* from = Data(shard->dtokens) + t * width;
    float* to = Data(shard->dvectors) + shard->inputs[t] * width;
    for (int64_t c = 0; c < width; ++c) to[c] += from[c];
  }
  shard->backward_s += lap(&shard->cpu_s);
}

void RetrieverStep::AddUpDense(int64_t first, int64_t last) {
  at::Tensor sum = shards_[0]->gradients.flat.narrow(0, first, last - first);
  for (size_t s = 1; s < shards_.size(); ++s) {
    sum.add_(shards_[s]->gradients.flat.narrow(0, first, last - first));
  }
}

// The last part to come through a block begins the sum over ranks. Blocks end from the last to the first in
// every part, so the sums begin in that order on every rank.
void RetrieverStep::BlockDone(int block) {
  if (--parts_left_[block] > 0) return;
  at::NoGradGuard no_grad;
  const int64_t first = block_starts_[block], last = block_starts_[block + 1];
  AddUpDense(first, last);
  ranks_->BeginSum(Data(shards_[0]->gradients.flat), first, last - first);
}

void RetrieverStep::AddUpShards() {
  Shard& sum = *shards_[0];
  AddUpDense(0, ranks_ != nullptr ? block_starts_[0] : block_starts_.back());
  for (size_t s = 1; s < shards_.size(); ++s) {
    sum.dvectors.add_(shards_[s]->dvectors);
    sum.dunits.add_(shards_[s]->dunits);
  }
  const int64_t n = items_.size(), width = model_->shape.width;
  NormalizeRowsBackward(Data(sum.dunits), Data(units_), inverse_.data(), n, width, /*add=*/true,
                        Data(sum.dvectors));
  // Into the parts of an item's vector: its content, then its id or what stands for one.
  const int64_t content_width = model_->shape.content_width;
  if (!corpus_->content.buckets.empty()) {
    sum.gradients.projection.addmm_(pooled_.t(), sum.dvectors);
    const at::Tensor dpooled = at::mm(sum.dvectors, model_->dense.projection.t());
    for (int64_t i = 0; i < n; ++i) {
      const absl::Span<const uint32_t> own = corpus_->content.Of(items_[i]);
      for (uint32_t bucket : own) {
        float* to = bucket_gradients_.data() + bucket * content_width;
        const float* from = Data(dpooled) + i * content_width;
        for (int64_t c = 0; c < content_width; ++c) to[c] += from[c] / static_cast<float>(own.size());
        touched_buckets_.push_back(bucket);
      }
    }
    std::sort(touched_buckets_.begin(), touched_buckets_.end());
    touched_buckets_.erase(std::unique(touched_buckets_.begin(), touched_buckets_.end()),
                           touched_buckets_.end());
  }
  kept_ids_.clear();
  shared_ids_ = 0;
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
  bucket_rows_.clear();
  for (int64_t bucket : touched_buckets_) {
    float* from = bucket_gradients_.data() + bucket * content_width;
    bucket_rows_.insert(bucket_rows_.end(), from, from + content_width);
    std::fill_n(from, content_width, 0.0f);
  }
}

void RetrieverStep::Update(AdamStep step) {
  Lap lap;
  RetrieverModel& m = *model_;
  const at::Tensor& dense = shards_[0]->gradients.flat;
  if (ranks_ != nullptr) ranks_->FinishSums();
  const double ids = ids_->Collect(kept_ids_, shared_ids_, Data(shards_[0]->dvectors));
  const double buckets = buckets_->Collect(touched_buckets_, 0, bucket_rows_.data());
  if (ranks_ != nullptr) {
    times_.communication += lap();
  } else {
    times_.optimizer += lap(&times_.own_cpu);
  }
  const double norm = std::sqrt(SquaredNorm(Data(dense), dense.numel()) + ids + buckets);
  step.gradient_scale = std::min(1.0, options_.clip / (norm + 1e-12));
  AdamRows(step, {0}, Data(dense), m.dense_moments.Table(m.dense.flat));
  ids_->Update(step);
  buckets_->Update(step);
  touched_buckets_.clear();
  times_.optimizer += lap(&times_.own_cpu);
}

double RetrieverStep::Run(const TrainingBatch& batch, int64_t number, double learning_rate) {
  at::NoGradGuard no_grad;
  Lap lap;
  CollectItems(batch, number);
  times_.data += lap(&times_.own_cpu);
  const at::Tensor ids = ids_->Rows(id_rows_, &id_places_);
  if (ranks_ != nullptr) times_.communication += lap();
  EncodeItems(model_->dense, {ids, model_->tables.buckets}, corpus_->content, id_places_, items_, &vectors_,
              &pooled_);
  units_ = at::empty_like(vectors_);
  inverse_.resize(items_.size());
  NormalizeRows(Data(vectors_), items_.size(), model_->shape.width, Data(units_), inverse_.data());
  times_.forward += lap(&times_.own_cpu);
  const double scale = 1.0 / static_cast<double>(std::max<size_t>(batch.tokens, 1));
  for (std::atomic<int>& left : parts_left_) left = static_cast<int>(shards_.size());
  pool_->Run(shards_.size(), [&](size_t s) {
    const uint64_t part = batch.parts.empty() ? s : batch.parts[s];
    RunShard(shards_[s].get(), RandomKey(options_.seed, {static_cast<uint64_t>(number), part, kDropout}),
             scale);
  });
  // The parts' own times say how the passes divide; threads ran them side by side.
  const double passes = lap();
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
  times_.backward += lap(&times_.own_cpu);
  if (ranks_ != nullptr) {
    ranks_->BeginSum(Data(shards_[0]->gradients.flat), 0, block_starts_[0]);
    loss = ranks_->AgreeOn(loss, static_cast<int64_t>(kept_ids_.size()) - shared_ids_,
                           static_cast<int64_t>(touched_buckets_.size()));
    times_.communication += lap();
  }
  AdamStep adam;
  adam.learning_rate = learning_rate;
  adam.step = number;
  Update(adam);
  return loss;
}

}  // namespace waymark
