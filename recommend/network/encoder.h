// The retriever's encoder: packed token vectors through the blocks, forward and backward.
//
// A block has two gated residual branches, both pre-norm (LiGR, arXiv 2502.03417):
//   [q k v g] = W norm(x) + b;   x += sigmoid(g) * (W_o attention(q, k, v) + b_o)
//   [a u g]   = W norm(x) + b;   x += sigmoid(g) * (W_d (silu(a) * u) + b_d)
// then one last norm. The backward pass is written out: it reuses its buffers from step to step, adds into
// one flat gradient, and gives the same bits for the same input (tests hold it against automatic
// differentiation).
//
// Includes LibTorch: for recommend/network/ and training/ only. An Encoder holds no state of its own;
// a workspace serves one thread at a time.
#pragma once
#include <torch/torch.h>

#include <functional>
#include <memory>
#include <vector>

#include "recommend/network/causal_attention.h"
#include "recommend/network/retriever_weights.h"

namespace waymark {

// Buffers of one thread, grown on demand and kept. T: tokens of the batch.
struct EncoderWorkspace {
  struct Block {
    std::vector<float> norm1, norm2;   // [T, 2]: mean and 1 / deviation
    at::Tensor x0, x1;                 // [T, width]: input of each branch
    at::Tensor n1, n2;                 // [T, width]
    at::Tensor qkvg;                   // [T, 4 width]
    at::Tensor attended, y;            // [T, width]
    at::Tensor up;                     // [T, 2 hidden + width]
    at::Tensor swiglu, z;              // [T, hidden], [T, width]
    std::vector<float> probabilities;  // [heads, pairs]
  };
  std::vector<Block> blocks;
  at::Tensor x;                   // [T, width]: before the last norm
  std::vector<float> final_norm;  // [T, 2]
  at::Tensor dx, dn, dy, dqkvg, dup, dswiglu;
  std::vector<float> scratch;
};

struct EncoderDropout {
  double rate = 0;
  uint64_t key = 0;
};

class Encoder {
 public:
  Encoder(const RetrieverShape& shape, const DenseWeights* weights) : shape_(shape), weights_(weights) {}

  // tokens: [T, width] -> states: [T, width], not normalised to unit length. Keeps in the workspace what
  // Backward needs.
  void Forward(const SequenceLayout& layout, const at::Tensor& tokens, EncoderDropout dropout,
               EncoderWorkspace* workspace, at::Tensor* states) const;
  // dstates: [T, width]; dtokens: [T, width] is overwritten; gradients are added to. `block_done`, which may
  // be null, is told each block whose gradients are final, from the last to the first; that of the last norm
  // is final with the last block's.
  void Backward(const SequenceLayout& layout, const at::Tensor& dstates, EncoderDropout dropout,
                EncoderWorkspace* workspace, DenseWeights* gradients, at::Tensor* dtokens,
                const std::function<void(int)>* block_done = nullptr) const;
  // Only the state of each sequence's newest token, [sequences, width]: what serving needs. The last block
  // runs for those tokens alone. No sequence may be empty.
  at::Tensor EncodeNewest(const SequenceLayout& layout, at::Tensor tokens, EncoderWorkspace* workspace) const;

 private:
  AttentionShape attention_shape() const;
  void ForwardBlock(size_t b, const SequenceLayout& layout, EncoderDropout dropout, at::Tensor* x,
                    EncoderWorkspace* workspace) const;
  void ForwardFeed(size_t b, EncoderDropout dropout, at::Tensor* x, EncoderWorkspace* workspace) const;
  void BackwardBlock(size_t b, const SequenceLayout& layout, EncoderDropout dropout,
                     EncoderWorkspace* workspace, DenseWeights* gradients) const;
  void NewestBlock(size_t b, const SequenceLayout& layout, at::Tensor* x, EncoderWorkspace* workspace) const;

  RetrieverShape shape_;
  const DenseWeights* weights_;
};

}  // namespace waymark
