#include "recommend/network/pointwise_kernels.h"

#include <cmath>

#include "recommend/network/fast_exp.h"

namespace waymark {
namespace {

constexpr float kEpsilon = 1e-5f;

float Dot(const float* a, const float* b, size_t n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

void LayerNormForward(const float* x, const float* weight, const float* bias, size_t rows, size_t width,
                      float* y, float* mean_rstd) {
  for (size_t r = 0; r < rows; ++r, x += width, y += width) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t c = 0; c < width; ++c) sum += x[c];
    const float mean = sum / static_cast<float>(width);
    float square = 0;
#pragma omp simd reduction(+ : square)
    for (size_t c = 0; c < width; ++c) square += (x[c] - mean) * (x[c] - mean);
    const float rstd = 1.0f / std::sqrt(square / static_cast<float>(width) + kEpsilon);
#pragma omp simd
    for (size_t c = 0; c < width; ++c) y[c] = (x[c] - mean) * rstd * weight[c] + bias[c];
    if (mean_rstd) {
      mean_rstd[2 * r] = mean;
      mean_rstd[2 * r + 1] = rstd;
    }
  }
}

void LayerNormBackward(const float* dy, const float* x, const float* mean_rstd, const float* weight,
                       size_t rows, size_t width, float* dx, float* dweight, float* dbias) {
  for (size_t r = 0; r < rows; ++r, x += width, dy += width, dx += width) {
    const float mean = mean_rstd[2 * r], rstd = mean_rstd[2 * r + 1];
    float sum = 0, sum_x = 0;
#pragma omp simd reduction(+ : sum, sum_x)
    for (size_t c = 0; c < width; ++c) {
      const float g = dy[c] * weight[c];
      sum += g;
      sum_x += g * (x[c] - mean) * rstd;
    }
    sum /= static_cast<float>(width);
    sum_x /= static_cast<float>(width);
#pragma omp simd
    for (size_t c = 0; c < width; ++c) {
      const float unit = (x[c] - mean) * rstd;
      dx[c] += (dy[c] * weight[c] - sum - unit * sum_x) * rstd;
      dweight[c] += dy[c] * unit;
      dbias[c] += dy[c];
    }
  }
}

void GatedResidualForward(float* x, const float* y, const float* gate, size_t gate_stride, size_t rows,
                          size_t width, DropoutMask mask) {
  for (size_t r = 0; r < rows; ++r, x += width, y += width, gate += gate_stride) {
    const uint32_t base = static_cast<uint32_t>(r * width);
    if (mask.threshold == 0) {
#pragma omp simd
      for (size_t c = 0; c < width; ++c) x[c] += FastSigmoid(gate[c]) * y[c];
    } else {
#pragma omp simd
      for (uint32_t c = 0; c < width; ++c) x[c] += mask.Factor(base + c) * FastSigmoid(gate[c]) * y[c];
    }
  }
}

void GatedResidualBackward(const float* dx, const float* y, const float* gate, size_t gate_stride,
                           size_t rows, size_t width, DropoutMask mask, float* dy, float* dgate) {
  for (size_t r = 0; r < rows; ++r) {
    const uint32_t base = static_cast<uint32_t>(r * width);
#pragma omp simd
    for (uint32_t c = 0; c < width; ++c) {
      const float g = FastSigmoid(gate[c]);
      const float d = dx[c] * mask.Factor(base + c);
      dy[c] = d * g;
      dgate[c] = d * y[c] * g * (1.0f - g);
    }
    dx += width, y += width, dy += width, gate += gate_stride, dgate += gate_stride;
  }
}

void SwigluForward(const float* up, size_t stride, size_t rows, size_t hidden, float* out) {
  for (size_t r = 0; r < rows; ++r, up += stride, out += hidden) {
    const float *a = up, *b = up + hidden;
#pragma omp simd
    for (size_t c = 0; c < hidden; ++c) out[c] = a[c] * FastSigmoid(a[c]) * b[c];
  }
}

void SwigluBackward(const float* dout, const float* up, size_t stride, size_t rows, size_t hidden,
                    float* dup) {
  for (size_t r = 0; r < rows; ++r, up += stride, dup += stride, dout += hidden) {
    const float *a = up, *b = up + hidden;
    float *da = dup, *db = dup + hidden;
#pragma omp simd
    for (size_t c = 0; c < hidden; ++c) {
      const float g = FastSigmoid(a[c]);
      const float silu = a[c] * g;
      db[c] = dout[c] * silu;
      da[c] = dout[c] * b[c] * (g + silu * (1.0f - g));
    }
  }
}

void ApplyDropout(float* x, size_t count, DropoutMask mask) {
  if (mask.threshold == 0) return;
#pragma omp simd
  for (uint32_t i = 0; i < count; ++i) x[i] *= mask.Factor(i);
}

void AddColumnSums(const float* x, size_t rows, size_t columns, float* sums) {
  for (size_t r = 0; r < rows; ++r, x += columns) {
#pragma omp simd
    for (size_t c = 0; c < columns; ++c) sums[c] += x[c];
  }
}

float ExpInPlace(float* x, size_t count) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < count; ++i) {
    x[i] = FastExp(x[i]);
    sum += x[i];
  }
  return sum;
}

void ScaleInPlace(float* x, size_t count, float scale) {
#pragma omp simd
  for (size_t i = 0; i < count; ++i) x[i] *= scale;
}

void NormalizeRows(const float* x, size_t rows, size_t width, float* unit, float* inverse) {
  for (size_t r = 0; r < rows; ++r, x += width, unit += width) {
    const float square = Dot(x, x, width);
    const float scale = square > 0 ? 1.0f / std::sqrt(square) : 0.0f;
#pragma omp simd
    for (size_t c = 0; c < width; ++c) unit[c] = x[c] * scale;
    if (inverse) inverse[r] = scale;
  }
}

void NormalizeRowsBackward(const float* dunit, const float* unit, const float* inverse, size_t rows,
                           size_t width, bool add, float* dx) {
  for (size_t r = 0; r < rows; ++r, dunit += width, unit += width, dx += width) {
    const float along = Dot(unit, dunit, width);
#pragma omp simd
    for (size_t c = 0; c < width; ++c) {
      dx[c] = (add ? dx[c] : 0.0f) + (dunit[c] - unit[c] * along) * inverse[r];
    }
  }
}

}  // namespace waymark
