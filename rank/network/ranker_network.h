// The LibTorch module of the attention ranker.
//
//   x = clip((features - mean) / scale)                                      [lists, candidates, features]
//   h = attention of the candidate over the newest events (item + type vectors, a bias by age)
//   q = attention of the candidate over the query's words
//   z = [x, candidate, h, candidate * h, q, candidate * q]
//   score(head) = head . relu(W2 relu(W1 z)) + skip(head) . x
//
// The columns of W1 that read the attention start at zero, so that training starts as the dense model and
// takes from the attention only what helps. Each attention has a sink (logit 0, value 0): an empty history
// gives a zero vector, and a candidate may look at nothing.
//
// Item and word vectors come in as tensors: their tables are large and are updated row by row in training,
// and are held as plain matrices in serving. LibTorch's exceptions leave this file; callers catch them.
#pragma once
#include <torch/torch.h>

#include "rank/network/ranker_config.h"

namespace waymark {

// What candidates attend to, computed once a list. Undefined tensors: nothing to attend to.
struct ListKeys {
  torch::Tensor keys, values;  // [lists, attention_heads, length, width / heads]
  torch::Tensor bias;          // [lists, heads or 1, 1, length]: by age; -1e9 where padded
};

// Dropout of training, from a generator of the trainer's own, so that runs can be repeated.
struct RankerNoise {
  at::Generator generator;
  double hidden = 0.1;  // of the first hidden layer
  double joined = 0.1;  // of what comes from the attention
};

class RankerNetworkImpl : public torch::nn::Module {
 public:
  // `seed`: of the initial weights.
  RankerNetworkImpl(const RankerConfig& config, uint64_t seed);

  torch::Tensor Standardise(const torch::Tensor& features) const;
  // items: [lists, length, width], newest first; types: [lists, length] slots; valid: [lists, length] bool.
  ListKeys HistoryKeys(const torch::Tensor& items, const torch::Tensor& types,
                       const torch::Tensor& valid) const;
  // words: [lists, length, width].
  ListKeys QueryKeys(const torch::Tensor& words, const torch::Tensor& valid) const;
  // x: [lists, candidates, features], candidates: [lists, candidates, width] -> z [lists, candidates, joined]
  torch::Tensor Join(const torch::Tensor& x, const torch::Tensor& candidates, const ListKeys& history,
                     const ListKeys& query, const RankerNoise* noise) const;
  // z -> [lists, candidates, heads], without the linear skip.
  torch::Tensor Deep(const torch::Tensor& z, const RankerNoise* noise) const;
  // x -> [lists, candidates, heads]
  torch::Tensor Skip(const torch::Tensor& x) const;

  const RankerConfig& config() const { return config_; }
  int64_t joined_width() const { return config_.features + 5 * config_.width; }

  // Buffers, of the training lists. [features]
  torch::Tensor feature_mean, feature_scale;
  // [event_types, width]
  torch::Tensor type_vectors;
  // [heads, features]
  torch::Tensor skip;

 private:
  struct Attention {
    torch::Tensor query, key, value;  // [width, width]
  };
  Attention MakeAttention(const std::string& name);
  ListKeys Keys(const Attention& attention, const torch::Tensor& vectors, const torch::Tensor& valid,
                const torch::Tensor& age_bias) const;
  torch::Tensor Attend(const Attention& attention, const torch::Tensor& candidates,
                       const ListKeys& keys) const;
  torch::Tensor Uniform(std::vector<int64_t> shape, double bound);

  RankerConfig config_;
  at::Generator init_;
  Attention history_, query_;
  torch::Tensor age_bias_;  // [attention_heads, history]
  torch::Tensor layer1_, bias1_, layer2_, bias2_, head_, head_bias_;
};
TORCH_MODULE(RankerNetwork);

}  // namespace waymark
