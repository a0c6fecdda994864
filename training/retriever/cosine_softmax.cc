#include "training/retriever/cosine_softmax.h"

#include <algorithm>
#include <cmath>

#include "recommend/network/pointwise_kernels.h"

namespace waymark {
namespace {

constexpr int64_t kChunkRows = 128;
constexpr float kMasked = -87.0f;  // exp of it is nothing

float Dot(const float* a, const float* b, int64_t n) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// Turns a chunk's logits into gradients of the logits; adds what concerns targets outside the contrasted set
// to dscaled and dunits at once. Returns the chunk's loss.
double ChunkGradients(const SoftmaxInput& input, int64_t first, const float* scaled, int64_t rows,
                      float* logits, float* dscaled, float* dunits) {
  const int64_t width = input.units.size(1), n = input.contrasted;
  const float* units = input.units.data_ptr<float>();
  double loss = 0;
  for (int64_t r = 0; r < rows; ++r, logits += n) {
    const int64_t target = input.targets[first + r];
    const float* state = scaled + r * width;
    const float* unit = units + target * width;
    const float logit = Dot(state, unit, width);
    const float positive = std::exp(logit);
    if (target < n) logits[target] = kMasked;
    const float sum = ExpInPlace(logits, n) + positive;
    loss += std::log(sum) - logit;
    const float scale = static_cast<float>(input.scale);
    const float pull = (positive / sum - 1.0f) * scale;
    ScaleInPlace(logits, n, scale / sum);
    if (target < n) {
      logits[target] = pull;
    } else {
      for (int64_t c = 0; c < width; ++c) {
        dscaled[r * width + c] = pull * unit[c];
        dunits[target * width + c] += pull * state[c];
      }
    }
  }
  return loss * input.scale;
}

}  // namespace

double CosineSoftmax(const SoftmaxInput& input, SoftmaxScratch* scratch, at::Tensor* dstates,
                     at::Tensor* dunits) {
  at::NoGradGuard no_grad;
  const int64_t tokens = input.states.size(0), width = input.states.size(1);
  SoftmaxScratch& s = *scratch;
  if (!s.unit_states.defined()) {
    s.unit_states = at::empty({0}, at::kFloat);
    s.scaled = at::empty({0}, at::kFloat);
    s.logits = at::empty({0}, at::kFloat);
    s.dscaled = at::empty({0}, at::kFloat);
  }
  s.unit_states.resize_({tokens, width});
  s.scaled.resize_({tokens, width});
  s.dscaled.resize_({tokens, width}).zero_();
  s.inverse.resize(tokens);
  NormalizeRows(input.states.data_ptr<float>(), tokens, width, s.unit_states.data_ptr<float>(),
                s.inverse.data());
  at::mul_out(s.scaled, s.unit_states, at::scalar_tensor(1.0 / input.temperature));
  const at::Tensor contrasted = input.units.narrow(0, 0, input.contrasted);
  at::Tensor dcontrasted = dunits->narrow(0, 0, input.contrasted);
  double loss = 0;
  for (int64_t first = 0; first < tokens; first += kChunkRows) {
    const int64_t rows = std::min(kChunkRows, tokens - first);
    const at::Tensor scaled = s.scaled.narrow(0, first, rows);
    at::Tensor dscaled = s.dscaled.narrow(0, first, rows);
    s.logits.resize_({rows, input.contrasted});
    at::mm_out(s.logits, scaled, contrasted.t());
    loss += ChunkGradients(input, first, scaled.data_ptr<float>(), rows, s.logits.data_ptr<float>(),
                           dscaled.data_ptr<float>(), dunits->data_ptr<float>());
    dscaled.addmm_(s.logits, contrasted);
    dcontrasted.addmm_(s.logits.t(), scaled);
  }
  ScaleInPlace(s.dscaled.data_ptr<float>(), s.dscaled.numel(), static_cast<float>(1.0 / input.temperature));
  dstates->resize_({tokens, width});
  NormalizeRowsBackward(s.dscaled.data_ptr<float>(), s.unit_states.data_ptr<float>(), s.inverse.data(),
                        tokens, width, /*add=*/false, dstates->data_ptr<float>());
  return loss;
}

}  // namespace waymark
