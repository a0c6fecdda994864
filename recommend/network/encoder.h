// The retriever's encoder: packed token vectors through the blocks, forward and backward.
//
// A block has two gated residual branches, both pre-norm (LiGR, arXiv 2502.03417):
//   [q k v g] = W norm(x) + b;   x += sigmoid(g) * (W_o attention(q, k, v) + b_o)
//   [a u g]   = W norm(x) + b;   x += sigmoid(g) * (W_d (silu(a) * u) + b_d)
// then one last norm. The backward pass is written out: it reuses its buffers from step to step, adds into
// one flat gradient, and gives the same bits for the same input (tests hold it against automatic
// differentiation).
//
// In training it may be a slice of the whole (encoder_slice.h). What leads out of a branch of a block that is
// spread over parts is added up over them, together with the gates, of which each part computes its own
// columns: two sums forward, and two of the branches' inputs backward.
//
// In mixed precision (bf16_matrices.h) both operands of the products with the blocks' matrices are rounded to
// bfloat16, added up in fp32 and given in bfloat16, as autocasting does; so are the products of the backward
// pass. Biases, norms, gates, attention's own products and its softmax, and all sums of gradients stay in
// fp32. LibTorch's autocasting itself knows neither these written-out passes nor operators with buffers.
//
// Includes LibTorch: for recommend/network/ and training/ only. An Encoder holds no state of its own;
// a workspace serves one thread at a time.
#pragma once
#include <torch/torch.h>

#include <functional>
#include <memory>
#include <vector>

#include "recommend/network/bf16_matrices.h"
#include "recommend/network/causal_attention.h"
#include "recommend/network/counter_random.h"
#include "recommend/network/retriever_weights.h"

namespace waymark {

// Buffers of one thread, grown on demand and kept. T: tokens of the batch.
struct EncoderWorkspace {
  struct Block {
    std::vector<float> norm1, norm2;  // [T, 2]: mean and 1 / deviation
    at::Tensor x0, x1;                // [T, width]: input of each branch
    at::Tensor n1, n2;                // [T, width]
    // Of a part: with the part's width (heads) and hidden units, but y and z, which have all gates below.
    at::Tensor qkvg;                   // [T, 4 width]
    at::Tensor attended, y;            // [T, width]
    at::Tensor up;                     // [T, 2 hidden + width]
    at::Tensor swiglu, z;              // [T, hidden], [T, width]
    std::vector<float> probabilities;  // [heads, pairs]
  };
  std::vector<Block> blocks;       // one alone where they are computed again
  std::vector<at::Tensor> inputs;  // [blocks] of [T, width]: what is kept then
  at::Tensor x;                    // [T, width]: before the last norm
  std::vector<float> final_norm;   // [T, 2]
  at::Tensor dx, dn, dy, dgates, dattended, dqkvg, dup, dswiglu;
  std::vector<float> scratch;
};

struct EncoderDropout {
  double rate = 0;
  uint64_t key = 0;
  uint64_t first_token = 0;  // of these tokens among those that the key is for
};

// The other parts of the blocks.
class EncoderPeers {
 public:
  virtual ~EncoderPeers() = default;
  // In place, over all parts; the same bits on each.
  virtual void Sum(const at::Tensor& tensor) = 0;
};

struct EncoderOptions {
  EncoderPeers* peers = nullptr;  // of weights that are one part of several
  // Forward keeps the input of each block alone, and Backward computes the rest again (activation
  // checkpointing, arXiv 1604.06174).
  bool recompute = false;
  const Bf16Matrices* matrices = nullptr;  // of the weights, for mixed precision; EncodeNewest takes none
};

class Encoder {
 public:
  // weights: of the whole, or of a slice; a slice of stages takes and gives what goes between them.
  Encoder(const RetrieverShape& shape, const DenseWeights* weights, const EncoderOptions& options = {})
      : shape_(shape), weights_(weights), options_(options) {}

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
  // runs for those tokens alone. No sequence may be empty. Of the whole only.
  at::Tensor EncodeNewest(const SequenceLayout& layout, at::Tensor tokens, EncoderWorkspace* workspace) const;

 private:
  int64_t own_width() const { return shape_.width / weights_->slice.parts; }
  int64_t own_hidden() const { return shape_.hidden / weights_->slice.parts; }
  // The number of block b in the whole.
  uint64_t number(size_t b) const { return weights_->slice.first_block + b; }
  EncoderWorkspace::Block& block_of(EncoderWorkspace* workspace, size_t b) const {
    return workspace->blocks[options_.recompute ? 0 : b];
  }
  AttentionShape attention_shape() const;
  void ForwardBlock(size_t b, const SequenceLayout& layout, EncoderDropout dropout, at::Tensor* x,
                    EncoderWorkspace* workspace) const;
  void ForwardFeed(size_t b, EncoderDropout dropout, at::Tensor* x, EncoderWorkspace* workspace) const;
  using Rounded = Bf16Matrices::Block;
  // A matrix of block b with its working copy, where there is one.
  struct Matrix {
    const LinearWeights& weights;
    at::Tensor rounded;
  };
  Matrix MatrixOf(size_t b, const LinearWeights& weights, at::Tensor Rounded::*rounded) const {
    return {weights, options_.matrices != nullptr ? options_.matrices->block(b).*rounded : at::Tensor()};
  }
  static void Linear(const Matrix& matrix, const at::Tensor& x, at::Tensor& out);
  // Adds to the gradients; gives dx.
  static void LinearBackward(const Matrix& matrix, const at::Tensor& x, const at::Tensor& dy,
                             LinearWeights* gradients, at::Tensor& dx);
  // x += mask * sigmoid(gate) * (output(inner) + bias). gate: of the part, [T, own width] with stride.
  void ForwardBranch(const Matrix& output, const at::Tensor& inner, const float* gate, int64_t stride,
                     DropoutMask mask, at::Tensor* y, at::Tensor* x) const;
  // Fills the workspace's dy, and dgate as the gate lies.
  void BackwardBranch(const at::Tensor& y, const float* gate, int64_t stride, DropoutMask mask,
                      EncoderWorkspace* workspace, float* dgate) const;
  void BackwardBlock(size_t b, const SequenceLayout& layout, EncoderDropout dropout,
                     EncoderWorkspace* workspace, DenseWeights* gradients) const;
  void NewestBlock(size_t b, const SequenceLayout& layout, at::Tensor* x, EncoderWorkspace* workspace) const;

  RetrieverShape shape_;
  const DenseWeights* weights_;
  EncoderOptions options_;
};

}  // namespace waymark
