// The matrices of an encoder's blocks in bfloat16: a working copy for the products of training in mixed
// precision (Micikevicius et al., arXiv 1710.03740). The weights themselves, the master copy, stay in fp32:
// bfloat16 has 8 significant bits, so an update of less than 1/512 of a weight would be lost there.
//
//   Bf16Matrices matrices(weights);
//   matrices.Round(weights);                              // once a step, after the weights have changed
//   Encoder encoder(shape, &weights, {.matrices = &matrices});
//
// Includes LibTorch: for recommend/network/ and training/ only. Reading is thread-safe.
#pragma once
#include <torch/torch.h>

#include <vector>

#include "recommend/network/retriever_weights.h"

namespace waymark {

class Bf16Matrices {
 public:
  struct Block {
    at::Tensor attention_input, attention_output, feed_input, feed_output;  // [out, in]
  };

  explicit Bf16Matrices(const DenseWeights& weights);
  // To the nearest, ties to even. weights: those of the constructor's shape.
  void Round(const DenseWeights& weights);
  const Block& block(size_t b) const { return blocks_[b]; }

 private:
  std::vector<Block> blocks_;
};

}  // namespace waymark
