#include "recommend/network/bf16_matrices.h"

namespace waymark {

Bf16Matrices::Bf16Matrices(const DenseWeights& weights) {
  const auto like = [](const at::Tensor& of) { return at::empty(of.sizes(), at::kBFloat16); };
  for (const BlockWeights& block : weights.blocks) {
    blocks_.push_back({like(block.attention.input.weight), like(block.attention.output.weight),
                       like(block.feed.input.weight), like(block.feed.output.weight)});
  }
  Round(weights);
}

void Bf16Matrices::Round(const DenseWeights& weights) {
  at::NoGradGuard no_grad;
  for (size_t b = 0; b < blocks_.size(); ++b) {
    const BlockWeights& block = weights.blocks[b];
    blocks_[b].attention_input.copy_(block.attention.input.weight);
    blocks_[b].attention_output.copy_(block.attention.output.weight);
    blocks_[b].feed_input.copy_(block.feed.input.weight);
    blocks_[b].feed_output.copy_(block.feed.output.weight);
  }
}

}  // namespace waymark
