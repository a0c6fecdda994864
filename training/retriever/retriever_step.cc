#include "training/retriever/retriever_step.h"

#include <algorithm>
#include <cmath>

#include "recommend/network/pointwise_kernels.h"

namespace waymark {
namespace {

enum StepRandom : uint64_t { kNegatives = 11, kIdDropout = 12, kDropout = 13 };

double SquaredNorm(const float* x, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(x[i]) * x[i];
  return sum;
}

float* Data(const at::Tensor& tensor) { return tensor.data_ptr<float>(); }

}  // namespace

RetrieverStep::RetrieverStep(RetrieverModel* model, const RetrieverCorpus* corpus,
                             const RetrieverOptions& options, ShardPool* pool)
    : model_(model),
      corpus_(corpus),
      options_(options),
      pool_(pool),
      encoder_(model->shape, &model->dense),
      place_of_(corpus->vocabulary.size(), -1) {
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
  shard->gradients.flat.zero_();
  shard->dvectors.resize_({static_cast<int64_t>(items_.size()), width}).zero_();
  shard->dunits.resize_({static_cast<int64_t>(items_.size()), width}).zero_();
  shard->loss = 0;
  if (tokens == 0) return;
  shard->tokens.resize_({tokens, width});
  for (int64_t t = 0; t < tokens; ++t) {
    std::copy_n(Data(vectors_) + shard->inputs[t] * width, width, Data(shard->tokens) + t * width);
  }
  const EncoderDropout dropout{options_.dropout, key};
  encoder_.Forward(shard->layout, shard->tokens, dropout, &shard->workspace, &shard->states);
  SoftmaxInput input{shard->states, units_, contrasted_, shard->targets, model_->shape.temperature, scale};
  shard->loss = CosineSoftmax(input, &shard->softmax, &shard->dstates, &shard->dunits);
  encoder_.Backward(shard->layout, shard->dstates, dropout, &shard->workspace, &shard->gradients,
                    &shard->dtokens);
  for (int64_t t = 0; t < tokens; ++t) {
    const float* from = Data(shard->dtokens) + t * width;
    float* to = Data(shard->dvectors) + shard->inputs[t] * width;
    for (int64_t c = 0; c < width; ++c) to[c] += from[c];
  }
}

void RetrieverStep::ReduceAndUpdate(const AdamStep& adam) {
  Shard& sum = *shards_[0];
  for (size_t s = 1; s < shards_.size(); ++s) {
    sum.gradients.flat.add_(shards_[s]->gradients.flat);
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
  std::vector<int64_t> kept;
  float* dvectors = Data(sum.dvectors);
  for (int64_t i = 0; i < n; ++i) {
    const float* from = dvectors + i * width;
    if (id_rows_[i] == kNoRow) {
      float* unknown = Data(sum.gradients.unknown);
      for (int64_t c = 0; c < width; ++c) unknown[c] += from[c];
    } else {
      std::copy_n(from, width, dvectors + kept.size() * width);
      kept.push_back(id_rows_[i]);
    }
  }
  std::vector<float> buckets;
  for (int64_t bucket : touched_buckets_) {
    float* from = bucket_gradients_.data() + bucket * content_width;
    buckets.insert(buckets.end(), from, from + content_width);
    std::fill_n(from, content_width, 0.0f);
  }
  const double norm =
      std::sqrt(SquaredNorm(Data(sum.gradients.flat), sum.gradients.flat.numel()) +
                SquaredNorm(dvectors, kept.size() * width) + SquaredNorm(buckets.data(), buckets.size()));
  AdamStep step = adam;
  step.gradient_scale = std::min(1.0, options_.clip / (norm + 1e-12));
  RetrieverModel& m = *model_;
  AdamRows(step, {0}, Data(sum.gradients.flat), m.dense_moments.Table(m.dense.flat));
  AdamRows(step, kept, dvectors, m.id_moments.Table(m.tables.id));
  AdamRows(step, touched_buckets_, buckets.data(), m.bucket_moments.Table(m.tables.buckets));
  touched_buckets_.clear();
}

double RetrieverStep::Run(const TrainingBatch& batch, int64_t number, double learning_rate) {
  at::NoGradGuard no_grad;
  CollectItems(batch, number);
  EncodeItems(model_->dense, model_->tables, corpus_->content, id_rows_, items_, &vectors_, &pooled_);
  units_ = at::empty_like(vectors_);
  inverse_.resize(items_.size());
  NormalizeRows(Data(vectors_), items_.size(), model_->shape.width, Data(units_), inverse_.data());
  const double scale = 1.0 / static_cast<double>(std::max<size_t>(batch.tokens, 1));
  pool_->Run(shards_.size(), [&](size_t s) {
    RunShard(shards_[s].get(), RandomKey(options_.seed, {static_cast<uint64_t>(number), s, kDropout}), scale);
  });
  AdamStep adam;
  adam.learning_rate = learning_rate;
  adam.step = number;
  ReduceAndUpdate(adam);
  double loss = 0;
  for (const auto& shard : shards_) loss += shard->loss;
  return loss;
}

}  // namespace waymark
