#include "recommend/network/encoder.h"

#include "recommend/network/pointwise_kernels.h"

namespace waymark {
namespace {

// A buffer of this size; its memory is kept when it was larger.
at::Tensor& Sized(at::Tensor& buffer, int64_t rows, int64_t columns) {
  if (!buffer.defined()) {
    buffer = at::empty({rows, columns}, at::kFloat);
  } else if (buffer.size(0) != rows || buffer.size(1) != columns) {
    buffer.resize_({rows, columns});
  }
  return buffer;
}

float* Data(const at::Tensor& tensor) { return tensor.data_ptr<float>(); }

void Linear(const LinearWeights& weights, const at::Tensor& x, at::Tensor& out) {
  at::addmm_out(out, weights.bias, x, weights.weight.t());
}

// Adds to the gradients; returns dx in `dx`.
void LinearBackward(const LinearWeights& weights, const at::Tensor& x, const at::Tensor& dy,
                    LinearWeights* gradients, at::Tensor& dx) {
  gradients->weight.addmm_(dy.t(), x);
  AddColumnSums(Data(dy), dy.size(0), dy.size(1), Data(gradients->bias));
  at::mm_out(dx, dy, weights.weight);
}

void Norm(const NormWeights& weights, const at::Tensor& x, at::Tensor& out, std::vector<float>* mean_rstd) {
  if (mean_rstd) mean_rstd->resize(2 * x.size(0));
  LayerNormForward(Data(x), Data(weights.weight), Data(weights.bias), x.size(0), x.size(1), Data(out),
                   mean_rstd ? mean_rstd->data() : nullptr);
}

DropoutMask Mask(EncoderDropout dropout, uint64_t place) {
  return DropoutMask::Make(dropout.rate, RandomKey(dropout.key, {place}));
}

constexpr uint64_t kInputPlace = 1000;

}  // namespace

AttentionShape Encoder::attention_shape() const {
  return {static_cast<size_t>(shape_.width), static_cast<size_t>(shape_.heads),
          static_cast<size_t>(shape_.history_limit), static_cast<size_t>(4 * shape_.width)};
}

void Encoder::ForwardFeed(size_t b, EncoderDropout dropout, at::Tensor* x,
                          EncoderWorkspace* workspace) const {
  const BranchWeights& branch = weights_->blocks[b].feed;
  EncoderWorkspace::Block& w = workspace->blocks[b];
  const int64_t rows = x->size(0), width = shape_.width, hidden = shape_.hidden;
  Sized(w.x1, rows, width).copy_(*x);
  Norm(branch.norm, *x, Sized(w.n2, rows, width), &w.norm2);
  Linear(branch.input, w.n2, Sized(w.up, rows, 2 * hidden + width));
  SwigluForward(Data(w.up), 2 * hidden + width, rows, hidden, Data(Sized(w.swiglu, rows, hidden)));
  Linear(branch.output, w.swiglu, Sized(w.z, rows, width));
  GatedResidualForward(Data(*x), Data(w.z), Data(w.up) + 2 * hidden, 2 * hidden + width, rows, width,
                       Mask(dropout, 2 * b + 1));
}

void Encoder::ForwardBlock(size_t b, const SequenceLayout& layout, EncoderDropout dropout, at::Tensor* x,
                           EncoderWorkspace* workspace) const {
  const BlockWeights& block = weights_->blocks[b];
  EncoderWorkspace::Block& w = workspace->blocks[b];
  const int64_t rows = x->size(0), width = shape_.width;
  Sized(w.x0, rows, width).copy_(*x);
  Norm(block.attention.norm, *x, Sized(w.n1, rows, width), &w.norm1);
  Linear(block.attention.input, w.n1, Sized(w.qkvg, rows, 4 * width));
  const float* q = Data(w.qkvg);
  w.probabilities.resize(shape_.heads * layout.pairs());
  CausalAttentionForward(attention_shape(), layout, q, q + width, q + 2 * width,
                         {Data(block.position), Data(block.time)}, Data(Sized(w.attended, rows, width)),
                         w.probabilities.data(), workspace->scratch);
  Linear(block.attention.output, w.attended, Sized(w.y, rows, width));
  GatedResidualForward(Data(*x), Data(w.y), q + 3 * width, 4 * width, rows, width, Mask(dropout, 2 * b));
  ForwardFeed(b, dropout, x, workspace);
}

void Encoder::Forward(const SequenceLayout& layout, const at::Tensor& tokens, EncoderDropout dropout,
                      EncoderWorkspace* workspace, at::Tensor* states) const {
  at::NoGradGuard no_grad;
  const int64_t rows = tokens.size(0);
  workspace->blocks.resize(shape_.blocks);
  at::Tensor& x = Sized(workspace->x, rows, shape_.width);
  x.copy_(tokens);
  ApplyDropout(Data(x), x.numel(), Mask(dropout, kInputPlace));
  for (int b = 0; b < shape_.blocks; ++b) ForwardBlock(b, layout, dropout, &x, workspace);
  Norm(weights_->final_norm, x, Sized(*states, rows, shape_.width), &workspace->final_norm);
}

void Encoder::BackwardBlock(size_t b, const SequenceLayout& layout, EncoderDropout dropout,
                            EncoderWorkspace* workspace, DenseWeights* gradients) const {
  const BlockWeights& block = weights_->blocks[b];
  BlockWeights& grad = gradients->blocks[b];
  EncoderWorkspace& s = *workspace;
  EncoderWorkspace::Block& w = s.blocks[b];
  const int64_t rows = s.dx.size(0), width = shape_.width, hidden = shape_.hidden;
  const int64_t up = 2 * hidden + width;
  // The feed-forward branch.
  GatedResidualBackward(Data(s.dx), Data(w.z), Data(w.up) + 2 * hidden, up, rows, width,
                        Mask(dropout, 2 * b + 1), Data(Sized(s.dy, rows, width)),
                        Data(Sized(s.dup, rows, up)) + 2 * hidden);
  LinearBackward(block.feed.output, w.swiglu, s.dy, &grad.feed.output, Sized(s.dswiglu, rows, hidden));
  SwigluBackward(Data(s.dswiglu), Data(w.up), up, rows, hidden, Data(s.dup));
  LinearBackward(block.feed.input, w.n2, s.dup, &grad.feed.input, Sized(s.dn, rows, width));
  LayerNormBackward(Data(s.dn), Data(w.x1), w.norm2.data(), Data(block.feed.norm.weight), rows, width,
                    Data(s.dx), Data(grad.feed.norm.weight), Data(grad.feed.norm.bias));
  // The attention branch.
  Sized(s.dqkvg, rows, 4 * width);
  GatedResidualBackward(Data(s.dx), Data(w.y), Data(w.qkvg) + 3 * width, 4 * width, rows, width,
                        Mask(dropout, 2 * b), Data(s.dy), Data(s.dqkvg) + 3 * width);
  LinearBackward(block.attention.output, w.attended, s.dy, &grad.attention.output, s.dn);
  const float* q = Data(w.qkvg);
  float* dq = Data(s.dqkvg);
  CausalAttentionBackward(attention_shape(), layout, q, q + width, q + 2 * width, w.probabilities.data(),
                          Data(s.dn), dq, dq + width, dq + 2 * width, Data(grad.position), Data(grad.time),
                          s.scratch);
  LinearBackward(block.attention.input, w.n1, s.dqkvg, &grad.attention.input, s.dn);
  LayerNormBackward(Data(s.dn), Data(w.x0), w.norm1.data(), Data(block.attention.norm.weight), rows, width,
                    Data(s.dx), Data(grad.attention.norm.weight), Data(grad.attention.norm.bias));
}

void Encoder::Backward(const SequenceLayout& layout, const at::Tensor& dstates, EncoderDropout dropout,
                       EncoderWorkspace* workspace, DenseWeights* gradients, at::Tensor* dtokens,
                       const std::function<void(int)>* block_done) const {
  at::NoGradGuard no_grad;
  const int64_t rows = dstates.size(0), width = shape_.width;
  Sized(workspace->dx, rows, width).zero_();
  LayerNormBackward(Data(dstates), Data(workspace->x), workspace->final_norm.data(),
                    Data(weights_->final_norm.weight), rows, width, Data(workspace->dx),
                    Data(gradients->final_norm.weight), Data(gradients->final_norm.bias));
  for (int b = shape_.blocks - 1; b >= 0; --b) {
    BackwardBlock(b, layout, dropout, workspace, gradients);
    if (block_done != nullptr) (*block_done)(b);
  }
  Sized(*dtokens, rows, width).copy_(workspace->dx);
  ApplyDropout(Data(*dtokens), dtokens->numel(), Mask(dropout, kInputPlace));
}

void Encoder::NewestBlock(size_t b, const SequenceLayout& layout, at::Tensor* x,
                          EncoderWorkspace* workspace) const {
  const BlockWeights& block = weights_->blocks[b];
  EncoderWorkspace::Block& w = workspace->blocks[b];
  const int64_t rows = x->size(0), width = shape_.width, sequences = layout.sequences();
  Norm(block.attention.norm, *x, Sized(w.n1, rows, width), nullptr);
  // Keys and values of all tokens; query and gate of the newest.
  at::Tensor newest_x = at::empty({sequences, width}, at::kFloat), newest_n = at::empty_like(newest_x);
  for (int64_t s = 0; s < sequences; ++s) {
    const size_t last = (layout.start(s) + layout.length(s) - 1) * width;
    std::copy_n(Data(*x) + last, width, Data(newest_x) + s * width);
    std::copy_n(Data(w.n1) + last, width, Data(newest_n) + s * width);
  }
  const at::Tensor& weight = block.attention.input.weight;
  const at::Tensor& bias = block.attention.input.bias;
  Sized(w.qkvg, rows, 2 * width);
  at::addmm_out(w.qkvg, bias.narrow(0, width, 2 * width), w.n1, weight.narrow(0, width, 2 * width).t());
  const at::Tensor query = at::addmm(bias.narrow(0, 0, width), newest_n, weight.narrow(0, 0, width).t());
  const at::Tensor gate =
      at::addmm(bias.narrow(0, 3 * width, width), newest_n, weight.narrow(0, 3 * width, width).t());
  AttentionShape shape = attention_shape();
  shape.stride = 2 * width;
  NewestAttentionForward(shape, layout, Data(query), width, Data(w.qkvg), Data(w.qkvg) + width,
                         {Data(block.position), Data(block.time)}, Data(Sized(w.attended, sequences, width)),
                         workspace->scratch);
  Linear(block.attention.output, w.attended, Sized(w.y, sequences, width));
  GatedResidualForward(Data(newest_x), Data(w.y), Data(gate), width, sequences, width, {});
  ForwardFeed(b, {}, &newest_x, workspace);
  *x = newest_x;
}

at::Tensor Encoder::EncodeNewest(const SequenceLayout& layout, at::Tensor tokens,
                                 EncoderWorkspace* workspace) const {
  at::InferenceMode inference;
  workspace->blocks.resize(shape_.blocks);
  for (int b = 0; b + 1 < shape_.blocks; ++b) ForwardBlock(b, layout, {}, &tokens, workspace);
  NewestBlock(shape_.blocks - 1, layout, &tokens, workspace);
  at::Tensor states = at::empty_like(tokens);
  Norm(weights_->final_norm, tokens, states, nullptr);
  return states;
}

}  // namespace waymark
