#include "recommend/network/causal_attention.h"

#include <algorithm>
#include <cmath>

#include "recommend/network/fast_exp.h"

namespace waymark {
namespace {

// y[0..n) += sum of x[r] * row r of m, four rows a pass so that y is loaded and stored a quarter as often.
// m: [rows, n] with stride.
void AddWeightedRows(const float* x, const float* m, size_t stride, size_t rows, size_t n, float* y) {
  size_t r = 0;
  for (; r + 4 <= rows; r += 4, m += 4 * stride) {
    const float x0 = x[r], x1 = x[r + 1], x2 = x[r + 2], x3 = x[r + 3];
    const float *m0 = m, *m1 = m + stride, *m2 = m + 2 * stride, *m3 = m + 3 * stride;
#pragma omp simd
    for (size_t c = 0; c < n; ++c) y[c] += x0 * m0[c] + x1 * m1[c] + x2 * m2[c] + x3 * m3[c];
  }
  for (; r < rows; ++r, m += stride) {
    const float xr = x[r];
#pragma omp simd
    for (size_t c = 0; c < n; ++c) y[c] += xr * m[c];
  }
}

// out: [columns, rows] = m: [rows, columns] with stride, transposed.
void Transpose(const float* m, size_t stride, size_t rows, size_t columns, float* out) {
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c) out[c * rows + r] = m[r * stride + c];
  }
}

void Softmax(float* row, size_t n) {
  float top = row[0];
#pragma omp simd reduction(max : top)
  for (size_t j = 0; j < n; ++j) top = std::max(top, row[j]);
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t j = 0; j < n; ++j) {
    row[j] = FastExp(row[j] - top);
    sum += row[j];
  }
  const float scale = 1.0f / sum;
#pragma omp simd
  for (size_t j = 0; j < n; ++j) row[j] *= scale;
}

// Scores of query i with keys 0..i, turned into probabilities. keys: [head width, length], transposed.
void Probabilities(const float* q, const float* keys, size_t head_width, size_t length, size_t i,
                   const float* position, const float* time, const uint8_t* buckets, float* scaled,
                   float* row) {
  const float scale = 1.0f / std::sqrt(static_cast<float>(head_width));
  for (size_t c = 0; c < head_width; ++c) scaled[c] = q[c] * scale;
  for (size_t j = 0; j <= i; ++j) row[j] = position[j] + time[buckets[j]];
  AddWeightedRows(scaled, keys, length, head_width, i + 1, row);
  Softmax(row, i + 1);
}

}  // namespace

void CausalAttentionForward(const AttentionShape& shape, const SequenceLayout& layout, const float* q,
                            const float* k, const float* v, AttentionBias bias, float* out,
                            float* probabilities, std::vector<float>& scratch) {
  const size_t d = shape.width / shape.heads, time_buckets = layout.time_buckets();
  scratch.resize(d * (layout.longest() + 1));
  float *keys = scratch.data(), *scaled = keys + d * layout.longest();
  for (size_t s = 0; s < layout.sequences(); ++s) {
    const size_t length = layout.length(s), first = layout.start(s) * shape.stride;
    for (size_t h = 0; h < shape.heads; ++h) {
      Transpose(k + first + h * d, shape.stride, length, d, keys);
      float* p = probabilities + h * layout.pairs() + layout.pair_start(s);
      for (size_t i = 0; i < length; ++i, p += length) {
        Probabilities(q + first + i * shape.stride + h * d, keys, d, length, i,
                      bias.position + (h + 1) * shape.limit - 1 - i, bias.time + h * time_buckets,
                      layout.buckets(s) + i * length, scaled, p);
        float* o = out + (layout.start(s) + i) * shape.width + h * d;
        std::fill(o, o + d, 0.0f);
        AddWeightedRows(p, v + first + h * d, shape.stride, i + 1, d, o);
      }
    }
  }
}

void NewestAttentionForward(const AttentionShape& shape, const SequenceLayout& layout, const float* q,
                            size_t q_stride, const float* k, const float* v, AttentionBias bias, float* out,
                            std::vector<float>& scratch) {
  const size_t d = shape.width / shape.heads, time_buckets = layout.time_buckets();
  scratch.resize((d + 1) * layout.longest() + d);
  float *keys = scratch.data(), *scaled = keys + d * layout.longest(), *row = scaled + d;
  for (size_t s = 0; s < layout.sequences(); ++s) {
    const size_t length = layout.length(s), first = layout.start(s) * shape.stride, i = length - 1;
    for (size_t h = 0; h < shape.heads; ++h) {
      Transpose(k + first + h * d, shape.stride, length, d, keys);
      Probabilities(q + s * q_stride + h * d, keys, d, length, i,
                    bias.position + (h + 1) * shape.limit - 1 - i, bias.time + h * time_buckets,
                    layout.buckets(s) + i * length, scaled, row);
      float* o = out + s * shape.width + h * d;
      std::fill(o, o + d, 0.0f);
      AddWeightedRows(row, v + first + h * d, shape.stride, length, d, o);
    }
  }
}

void CausalAttentionBackward(const AttentionShape& shape, const SequenceLayout& layout, const float* q,
                             const float* k, const float* v, const float* probabilities, const float* dout,
                             float* dq, float* dk, float* dv, float* dposition, float* dtime,
                             std::vector<float>& scratch) {
  const size_t d = shape.width / shape.heads, time_buckets = layout.time_buckets();
  const float scale = 1.0f / std::sqrt(static_cast<float>(d));
  scratch.resize((d + 1) * layout.longest());
  float *values = scratch.data(), *ds = values + d * layout.longest();
  for (size_t s = 0; s < layout.sequences(); ++s) {
    const size_t length = layout.length(s), first = layout.start(s) * shape.stride;
    for (size_t h = 0; h < shape.heads; ++h) {
      const size_t at = first + h * d;
      Transpose(v + at, shape.stride, length, d, values);
      for (size_t i = 0; i < length; ++i) {
        std::fill_n(dk + at + i * shape.stride, d, 0.0f);
        std::fill_n(dv + at + i * shape.stride, d, 0.0f);
      }
      const float* p = probabilities + h * layout.pairs() + layout.pair_start(s);
      for (size_t i = 0; i < length; ++i, p += length) {
        const float* go = dout + (layout.start(s) + i) * shape.width + h * d;
        std::fill_n(ds, i + 1, 0.0f);
        AddWeightedRows(go, values, length, d, i + 1, ds);
        float along = 0;
#pragma omp simd reduction(+ : along)
        for (size_t j = 0; j <= i; ++j) along += p[j] * ds[j];
        float* row_position = dposition + (h + 1) * shape.limit - 1 - i;
#pragma omp simd
        for (size_t j = 0; j <= i; ++j) {
          ds[j] = p[j] * (ds[j] - along);
          row_position[j] += ds[j];
        }
        const uint8_t* buckets = layout.buckets(s) + i * length;
        for (size_t j = 0; j <= i; ++j) dtime[h * time_buckets + buckets[j]] += ds[j];
        float* gq = dq + at + i * shape.stride;
        std::fill_n(gq, d, 0.0f);
        AddWeightedRows(ds, k + at, shape.stride, i + 1, d, gq);
        const float* qi = q + at + i * shape.stride;
        for (size_t c = 0; c < d; ++c) gq[c] *= scale;
        for (size_t j = 0; j <= i; ++j) {
          float *gk = dk + at + j * shape.stride, *gv = dv + at + j * shape.stride;
          const float a = ds[j] * scale, b = p[j];
#pragma omp simd
          for (size_t c = 0; c < d; ++c) {
            gk[c] += a * qi[c];
            gv[c] += b * go[c];
          }
        }
      }
    }
  }
}

}  // namespace waymark
