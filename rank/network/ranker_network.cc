#include "rank/network/ranker_network.h"

#include <cmath>

namespace waymark {
namespace {

torch::Tensor Dropout(const torch::Tensor& x, double rate, const RankerNoise* noise) {
  if (noise == nullptr || rate <= 0) return x;
  // In fp32 whatever x is: the same masks in every precision.
  torch::Tensor keep = torch::empty(x.sizes()).bernoulli_(1 - rate, noise->generator);
  return x * keep / (1 - rate);
}

}  // namespace

torch::Tensor RankerNetworkImpl::Uniform(std::vector<int64_t> shape, double bound) {
  return torch::empty(shape).uniform_(-bound, bound, init_);
}

RankerNetworkImpl::Attention RankerNetworkImpl::MakeAttention(const std::string& name) {
  const int64_t w = config_.width;
  const double bound = 1 / std::sqrt(static_cast<double>(w));
  Attention a;
  // Queries and keys start alike, so that a candidate first looks at what resembles it.
  a.query = register_parameter(name + "_query", torch::eye(w) + Uniform({w, w}, 0.1 * bound));
  a.key = register_parameter(name + "_key", torch::eye(w) + Uniform({w, w}, 0.1 * bound));
  a.value = register_parameter(name + "_value", torch::eye(w) + Uniform({w, w}, 0.1 * bound));
  return a;
}

RankerNetworkImpl::RankerNetworkImpl(const RankerConfig& config, uint64_t seed)
    : config_(config), init_(at::make_generator<at::CPUGeneratorImpl>(seed)) {
  const int64_t features = config_.features, heads = static_cast<int64_t>(config_.heads.size());
  feature_mean = register_buffer("feature_mean", torch::zeros({features}));
  feature_scale = register_buffer("feature_scale", torch::ones({features}));
  history_ = MakeAttention("history");
  query_ = MakeAttention("words");
  age_bias_ = register_parameter("age_bias", torch::zeros({config_.attention_heads, config_.history}));
  type_vectors = register_parameter("type_vectors", torch::zeros({config_.event_types, config_.width}));
  torch::Tensor first = torch::zeros({config_.hidden1, joined_width()});
  // He's uniform bound for ReLU, over the dense columns; the attention's columns stay zero.
  first.narrow(1, 0, features).copy_(Uniform({config_.hidden1, features}, std::sqrt(6.0 / features)) * 0.5);
  layer1_ = register_parameter("layer1_weight", first);
  bias1_ = register_parameter("layer1_bias", torch::zeros({config_.hidden1}));
  layer2_ = register_parameter(
      "layer2_weight",
      Uniform({config_.hidden2, config_.hidden1}, std::sqrt(6.0 / static_cast<double>(config_.hidden1))));
  bias2_ = register_parameter("layer2_bias", torch::zeros({config_.hidden2}));
  head_ = register_parameter(
      "heads_weight", Uniform({heads, config_.hidden2}, 1 / std::sqrt(static_cast<double>(config_.hidden2))));
  head_bias_ = register_parameter("heads_bias", torch::zeros({heads}));
  skip = register_parameter("heads_skip", torch::zeros({heads, features}));
}

torch::Tensor RankerNetworkImpl::Standardise(const torch::Tensor& features) const {
  return ((features - feature_mean) / feature_scale).clamp(-config_.clip, config_.clip);
}

ListKeys RankerNetworkImpl::Keys(const Attention& attention, const torch::Tensor& vectors,
                                 const torch::Tensor& valid, const torch::Tensor& age_bias) const {
  const int64_t lists = vectors.size(0), length = vectors.size(1), heads = config_.attention_heads;
  auto split = [&](const torch::Tensor& t) {
    return t.view({lists, length, heads, config_.width / heads}).transpose(1, 2);
  };
  ListKeys keys;
  keys.keys = split(torch::matmul(vectors, attention.key));
  keys.values = split(torch::matmul(vectors, attention.value));
  keys.bias =
      torch::zeros({lists, 1, 1, length}).masked_fill(valid.logical_not().view({lists, 1, 1, length}), -1e9);
  if (age_bias.defined()) {
    keys.bias = keys.bias + age_bias.narrow(1, 0, length).view({1, heads, 1, length});
  }
  return keys;
}

ListKeys RankerNetworkImpl::HistoryKeys(const torch::Tensor& items, const torch::Tensor& types,
                                        const torch::Tensor& valid) const {
  const torch::Tensor vectors = items + type_vectors.index_select(0, types.reshape({-1})).view_as(items);
  return Keys(history_, vectors, valid, age_bias_);
}

ListKeys RankerNetworkImpl::QueryKeys(const torch::Tensor& words, const torch::Tensor& valid) const {
  return Keys(query_, words, valid, {});
}

torch::Tensor RankerNetworkImpl::Attend(const Attention& attention, const torch::Tensor& candidates,
                                        const ListKeys& keys) const {
  const int64_t lists = candidates.size(0), n = candidates.size(1), heads = config_.attention_heads;
  const int64_t part = config_.width / heads;
  const torch::Tensor query =
      torch::matmul(candidates, attention.query).view({lists, n, heads, part}).transpose(1, 2);
  torch::Tensor logits =
      torch::matmul(query, keys.keys.transpose(2, 3)) / std::sqrt(static_cast<double>(part)) + keys.bias;
  // Softmax beside a sink of logit 0.
  logits = torch::cat({logits, torch::zeros({lists, heads, n, 1})}, 3);
  const torch::Tensor weights = torch::softmax(logits, 3).narrow(3, 0, keys.keys.size(2));
  return torch::matmul(weights, keys.values).transpose(1, 2).reshape({lists, n, config_.width});
}

torch::Tensor RankerNetworkImpl::Join(const torch::Tensor& x, const torch::Tensor& candidates,
                                      const ListKeys& history, const ListKeys& query,
                                      const RankerNoise* noise) const {
  torch::Tensor h, q;
  if (history.keys.defined()) h = Attend(history_, candidates, history);
  if (query.keys.defined()) q = Attend(query_, candidates, query);
  const torch::Tensor nothing = h.defined() && q.defined() ? torch::Tensor() : torch::zeros_like(candidates);
  torch::Tensor parts =
      torch::cat({candidates, h.defined() ? h : nothing, h.defined() ? candidates * h : nothing,
                  q.defined() ? q : nothing, q.defined() ? candidates * q : nothing},
                 2);
  if (noise != nullptr) parts = Dropout(parts, noise->joined, noise);
  return torch::cat({x, parts}, 2);
}

torch::Tensor RankerNetworkImpl::Deep(const torch::Tensor& z, const RankerNoise* noise) const {
  torch::Tensor hidden = torch::relu(torch::linear(z, layer1_, bias1_));
  if (noise != nullptr) hidden = Dropout(hidden, noise->hidden, noise);
  hidden = torch::relu(torch::linear(hidden, layer2_, bias2_));
  return torch::linear(hidden, head_, head_bias_);
}

torch::Tensor RankerNetworkImpl::Skip(const torch::Tensor& x) const { return torch::linear(x, skip); }

}  // namespace waymark
