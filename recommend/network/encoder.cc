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

// x * matrix^T in bfloat16, into fp32.
void Bf16Product(const at::Tensor& x, const at::Tensor& matrix, at::Tensor& out) {
  out.copy_(at::mm(x.to(at::kBFloat16), matrix.t()));
}

void Norm(const NormWeights& weights, const at::Tensor& x, at::Tensor& out, std::vector<float>* mean_rstd) {
  if (mean_rstd) mean_rstd->resize(2 * x.size(0));
  LayerNormForward(Data(x), Data(weights.weight), Data(weights.bias), x.size(0), x.size(1), Data(out),
                   mean_rstd ? mean_rstd->data() : nullptr);
}

DropoutMask MaskOf(EncoderDropout dropout, uint64_t place, int64_t width) {
  return DropoutMask::Make(dropout.rate, RandomKey(dropout.key, {place}))
      .From(dropout.first_token * static_cast<uint64_t>(width));
}

constexpr uint64_t kInputPlace = 1000;

}  // namespace

AttentionShape Encoder::attention_shape() const {
  return {static_cast<size_t>(own_width()), static_cast<size_t>(shape_.heads / weights_->slice.parts),
          static_cast<size_t>(shape_.history_limit), static_cast<size_t>(4 * own_width())};
}

void Encoder::Linear(const Matrix& matrix, const at::Tensor& x, at::Tensor& out) {
  if (!matrix.rounded.defined()) {
    at::addmm_out(out, matrix.weights.bias, x, matrix.weights.weight.t());
    return;
  }
  Bf16Product(x, matrix.rounded, out);
  out.add_(matrix.weights.bias);
}

void Encoder::LinearBackward(const Matrix& matrix, const at::Tensor& x, const at::Tensor& dy,
                             LinearWeights* gradients, at::Tensor& dx) {
  AddColumnSums(Data(dy), dy.size(0), dy.size(1), Data(gradients->bias));
  if (!matrix.rounded.defined()) {
    gradients->weight.addmm_(dy.t(), x);
    at::mm_out(dx, dy, matrix.weights.weight);
    return;
  }
  const at::Tensor rounded = dy.to(at::kBFloat16);
  gradients->weight.add_(at::mm(rounded.t(), x.to(at::kBFloat16)));
  dx.copy_(at::mm(rounded, matrix.rounded));
}

void Encoder::ForwardBranch(const Matrix& output, const at::Tensor& inner, const float* gate, int64_t stride,
                            DropoutMask mask, at::Tensor* y, at::Tensor* x) const {
  const int64_t rows = x->size(0), width = shape_.width;
  if (options_.peers == nullptr) {
    Linear(output, inner, Sized(*y, rows, width));
    GatedResidualForward(Data(*x), Data(*y), gate, stride, rows, width, mask);
    return;
  }
  // One sum for both: what the parts add to the branch, and the gates, zeros where they are another's.
  Sized(*y, 2 * rows, width);
  at::Tensor sum = y->narrow(0, 0, rows), gates = y->narrow(0, rows, rows);
  if (output.rounded.defined()) {
    Bf16Product(inner, output.rounded, sum);
  } else {
    at::mm_out(sum, inner, output.weights.weight.t());
  }
  gates.zero_();
  float* own = Data(gates) + weights_->slice.part * own_width();
  for (int64_t r = 0; r < rows; ++r) std::copy_n(gate + r * stride, own_width(), own + r * width);
  options_.peers->Sum(*y);
  sum.add_(output.weights.bias);
  GatedResidualForward(Data(*x), Data(sum), Data(gates), width, rows, width, mask);
}

void Encoder::BackwardBranch(const at::Tensor& y, const float* gate, int64_t stride, DropoutMask mask,
                             EncoderWorkspace* workspace, float* dgate) const {
  const int64_t rows = workspace->dx.size(0), width = shape_.width;
  float* dy = Data(Sized(workspace->dy, rows, width));
  const float* dx = Data(workspace->dx);
  if (options_.peers == nullptr) {
    GatedResidualBackward(dx, Data(y), gate, stride, rows, width, mask, dy, dgate);
    return;
  }
  float* dgates = Data(Sized(workspace->dgates, rows, width));
  GatedResidualBackward(dx, Data(y), Data(y) + rows * width, width, rows, width, mask, dy, dgates);
  const float* own = dgates + weights_->slice.part * own_width();
  for (int64_t r = 0; r < rows; ++r) std::copy_n(own + r * width, own_width(), dgate + r * stride);
}

void Encoder::ForwardFeed(size_t b, EncoderDropout dropout, at::Tensor* x,
                          EncoderWorkspace* workspace) const {
  const BranchWeights& branch = weights_->blocks[b].feed;
  EncoderWorkspace::Block& w = block_of(workspace, b);
  const int64_t rows = x->size(0), width = shape_.width, hidden = own_hidden();
  const int64_t up = 2 * hidden + own_width();
  Sized(w.x1, rows, width).copy_(*x);
  Norm(branch.norm, *x, Sized(w.n2, rows, width), &w.norm2);
  Linear(MatrixOf(b, branch.input, &Rounded::feed_input), w.n2, Sized(w.up, rows, up));
  SwigluForward(Data(w.up), up, rows, hidden, Data(Sized(w.swiglu, rows, hidden)));
  ForwardBranch(MatrixOf(b, branch.output, &Rounded::feed_output), w.swiglu, Data(w.up) + 2 * hidden, up,
                MaskOf(dropout, 2 * number(b) + 1, shape_.width), &w.z, x);
}

void Encoder::ForwardBlock(size_t b, const SequenceLayout& layout, EncoderDropout dropout, at::Tensor* x,
                           EncoderWorkspace* workspace) const {
  const BlockWeights& block = weights_->blocks[b];
  EncoderWorkspace::Block& w = block_of(workspace, b);
  const int64_t rows = x->size(0), width = own_width();
  const AttentionShape shape = attention_shape();
  Sized(w.x0, rows, shape_.width).copy_(*x);
  Norm(block.attention.norm, *x, Sized(w.n1, rows, shape_.width), &w.norm1);
  Linear(MatrixOf(b, block.attention.input, &Rounded::attention_input), w.n1, Sized(w.qkvg, rows, 4 * width));
  const float* q = Data(w.qkvg);
  w.probabilities.resize(shape.heads * layout.pairs());
  CausalAttentionForward(shape, layout, q, q + width, q + 2 * width, {Data(block.position), Data(block.time)},
                         Data(Sized(w.attended, rows, width)), w.probabilities.data(), workspace->scratch);
  ForwardBranch(MatrixOf(b, block.attention.output, &Rounded::attention_output), w.attended, q + 3 * width,
                4 * width, MaskOf(dropout, 2 * number(b), shape_.width), &w.y, x);
  ForwardFeed(b, dropout, x, workspace);
}

void Encoder::Forward(const SequenceLayout& layout, const at::Tensor& tokens, EncoderDropout dropout,
                      EncoderWorkspace* workspace, at::Tensor* states) const {
  at::NoGradGuard no_grad;
  const int64_t rows = tokens.size(0), width = shape_.width;
  const size_t blocks = weights_->blocks.size();
  workspace->blocks.resize(options_.recompute ? 1 : blocks);
  workspace->inputs.resize(options_.recompute ? blocks : 0);
  at::Tensor& x = Sized(workspace->x, rows, width);
  x.copy_(tokens);
  if (weights_->slice.items) ApplyDropout(Data(x), x.numel(), MaskOf(dropout, kInputPlace, shape_.width));
  for (size_t b = 0; b < blocks; ++b) {
    if (options_.recompute) Sized(workspace->inputs[b], rows, width).copy_(x);
    ForwardBlock(b, layout, dropout, &x, workspace);
  }
  Sized(*states, rows, width);
  if (weights_->slice.final_norm) {
    Norm(weights_->final_norm, x, *states, &workspace->final_norm);
  } else {
    states->copy_(x);
  }
}

void Encoder::BackwardBlock(size_t b, const SequenceLayout& layout, EncoderDropout dropout,
                            EncoderWorkspace* workspace, DenseWeights* gradients) const {
  const BlockWeights& block = weights_->blocks[b];
  BlockWeights& grad = gradients->blocks[b];
  EncoderWorkspace& s = *workspace;
  EncoderWorkspace::Block& w = block_of(workspace, b);
  if (options_.recompute) {
    at::Tensor x = s.inputs[b];
    ForwardBlock(b, layout, dropout, &x, workspace);  // what came in is not asked for again
  }
  const int64_t rows = s.dx.size(0), width = own_width(), hidden = own_hidden();
  const int64_t up = 2 * hidden + width;
  // The feed-forward branch.
  float* dup = Data(Sized(s.dup, rows, up));
  BackwardBranch(w.z, Data(w.up) + 2 * hidden, up, MaskOf(dropout, 2 * number(b) + 1, shape_.width), &s,
                 dup + 2 * hidden);
  LinearBackward(MatrixOf(b, block.feed.output, &Rounded::feed_output), w.swiglu, s.dy, &grad.feed.output,
                 Sized(s.dswiglu, rows, hidden));
  SwigluBackward(Data(s.dswiglu), Data(w.up), up, rows, hidden, dup);
  LinearBackward(MatrixOf(b, block.feed.input, &Rounded::feed_input), w.n2, s.dup, &grad.feed.input,
                 Sized(s.dn, rows, shape_.width));
  if (options_.peers != nullptr) options_.peers->Sum(s.dn);
  LayerNormBackward(Data(s.dn), Data(w.x1), w.norm2.data(), Data(block.feed.norm.weight), rows, shape_.width,
                    Data(s.dx), Data(grad.feed.norm.weight), Data(grad.feed.norm.bias));
  // The attention branch.
  const float* q = Data(w.qkvg);
  float* dq = Data(Sized(s.dqkvg, rows, 4 * width));
  BackwardBranch(w.y, q + 3 * width, 4 * width, MaskOf(dropout, 2 * number(b), shape_.width), &s,
                 dq + 3 * width);
  LinearBackward(MatrixOf(b, block.attention.output, &Rounded::attention_output), w.attended, s.dy,
                 &grad.attention.output, Sized(s.dattended, rows, width));
  CausalAttentionBackward(attention_shape(), layout, q, q + width, q + 2 * width, w.probabilities.data(),
                          Data(s.dattended), dq, dq + width, dq + 2 * width, Data(grad.position),
                          Data(grad.time), s.scratch);
  LinearBackward(MatrixOf(b, block.attention.input, &Rounded::attention_input), w.n1, s.dqkvg,
                 &grad.attention.input, s.dn);
  if (options_.peers != nullptr) options_.peers->Sum(s.dn);
  LayerNormBackward(Data(s.dn), Data(w.x0), w.norm1.data(), Data(block.attention.norm.weight), rows,
                    shape_.width, Data(s.dx), Data(grad.attention.norm.weight),
                    Data(grad.attention.norm.bias));
}

void Encoder::Backward(const SequenceLayout& layout, const at::Tensor& dstates, EncoderDropout dropout,
                       EncoderWorkspace* workspace, DenseWeights* gradients, at::Tensor* dtokens,
                       const std::function<void(int)>* block_done) const {
  at::NoGradGuard no_grad;
  const int64_t rows = dstates.size(0), width = shape_.width;
  Sized(workspace->dx, rows, width);
  if (weights_->slice.final_norm) {
    workspace->dx.zero_();
    LayerNormBackward(Data(dstates), Data(workspace->x), workspace->final_norm.data(),
                      Data(weights_->final_norm.weight), rows, width, Data(workspace->dx),
                      Data(gradients->final_norm.weight), Data(gradients->final_norm.bias));
  } else {
    workspace->dx.copy_(dstates);
  }
  for (int b = static_cast<int>(weights_->blocks.size()) - 1; b >= 0; --b) {
    BackwardBlock(b, layout, dropout, workspace, gradients);
    if (block_done != nullptr) (*block_done)(b);
  }
  Sized(*dtokens, rows, width).copy_(workspace->dx);
  if (weights_->slice.items)
    ApplyDropout(Data(*dtokens), dtokens->numel(), MaskOf(dropout, kInputPlace, shape_.width));
}

void Encoder::NewestBlock(size_t b, const SequenceLayout& layout, at::Tensor* x,
                          EncoderWorkspace* workspace) const {
  const BlockWeights& block = weights_->blocks[b];
  EncoderWorkspace::Block& w = block_of(workspace, b);
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
  Linear({block.attention.output, {}}, w.attended, Sized(w.y, sequences, width));
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
