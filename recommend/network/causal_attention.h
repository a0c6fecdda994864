// Causal softmax attention over packed sequences with two learned biases, as in HSTU (arXiv 2402.17152): one
// by the distance in positions, one by the bucket of the distance in time.
//
//   p[i, j] = softmax over j <= i of (<q_i, k_j> / sqrt(d) + position_bias[i - j] + time_bias[bucket(i, j)])
//   out_i = sum_j p[i, j] v_j
//
// No LibTorch here, as in pointwise_kernels.h. Thread-safe: scratch memory belongs to the caller.
#pragma once
#include <cstddef>
#include <vector>

#include "recommend/network/sequence_layout.h"

namespace waymark {

struct AttentionShape {
  size_t width = 0, heads = 0;
  size_t limit = 0;   // the longest sequence
  size_t stride = 0;  // distance of rows of q, k, v
};

// The biases of all heads. position: [heads, limit], entry limit - 1 - distance (so that a row of scores
// reads it forwards); time: [heads, time buckets].
struct AttentionBias {
  const float* position;
  const float* time;
};

// q, k, v: [tokens, width] with shape.stride. out: [tokens, width]. probabilities: [heads, layout.pairs()],
// kept for the backward pass.
void CausalAttentionForward(const AttentionShape& shape, const SequenceLayout& layout, const float* q,
                            const float* k, const float* v, AttentionBias bias, float* out,
                            float* probabilities, std::vector<float>& scratch);

// The newest token of each sequence only: q, out: [sequences, width], q with q_stride.
void NewestAttentionForward(const AttentionShape& shape, const SequenceLayout& layout, const float* q,
                            size_t q_stride, const float* k, const float* v, AttentionBias bias, float* out,
                            std::vector<float>& scratch);

// Overwrites dq, dk, dv (shape.stride); adds to dposition and dtime (laid out as the biases).
void CausalAttentionBackward(const AttentionShape& shape, const SequenceLayout& layout, const float* q,
                             const float* k, const float* v, const float* probabilities, const float* dout,
                             float* dq, float* dk, float* dv, float* dposition, float* dtime,
                             std::vector<float>& scratch);

}  // namespace waymark
