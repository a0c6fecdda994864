// The small operators of the retriever's blocks, forward and backward, each one pass over memory. Matrices
// are row-major; `stride` is the distance of rows in floats where a matrix is a slice of a wider one.
//
// No LibTorch here, so that these compile with vectorisation flags of their own. Not bounds-checked: callers
// own the shapes. Thread-safe (no state).
#pragma once
#include <cstddef>

#include "recommend/network/counter_random.h"

namespace waymark {

// Layer normalisation (Ba et al. 2016), epsilon 1e-5.
// x, y: [rows, width]; mean_rstd: [rows, 2], may be null when no backward pass follows.
void LayerNormForward(const float* x, const float* weight, const float* bias, size_t rows, size_t width,
                      float* y, float* mean_rstd);
// Adds to dx, dweight and dbias.
void LayerNormBackward(const float* dy, const float* x, const float* mean_rstd, const float* weight,
                       size_t rows, size_t width, float* dx, float* dweight, float* dbias);

// x += mask * sigmoid(gate) * y: the gated residual branch of LiGR (arXiv 2502.03417).
// x, y: [rows, width]; gate: [rows, width] with gate_stride.
void GatedResidualForward(float* x, const float* y, const float* gate, size_t gate_stride, size_t rows,
                          size_t width, DropoutMask mask);
// Overwrites dy and dgate (same strides as their values).
void GatedResidualBackward(const float* dx, const float* y, const float* gate, size_t gate_stride,
                           size_t rows, size_t width, DropoutMask mask, float* dy, float* dgate);

// out = silu(up[:, :hidden]) * up[:, hidden:2 hidden]: SwiGLU (arXiv 2002.05202).
// up: [rows, >= 2 hidden] with stride; out: [rows, hidden].
void SwigluForward(const float* up, size_t stride, size_t rows, size_t hidden, float* out);
// Overwrites the first 2 hidden columns of dup.
void SwigluBackward(const float* dout, const float* up, size_t stride, size_t rows, size_t hidden,
                    float* dup);

// x *= mask; the same on gradients is the backward pass.
void ApplyDropout(float* x, size_t count, DropoutMask mask);

// sums += column sums of x: [rows, columns].
void AddColumnSums(const float* x, size_t rows, size_t columns, float* sums);

// x = exp(x); returns the sum.
float ExpInPlace(float* x, size_t count);
void ScaleInPlace(float* x, size_t count, float scale);

// unit[r] = x[r] / |x[r]|, inverse[r] = 1 / |x[r]|. A zero row stays zero. `inverse` may be null.
void NormalizeRows(const float* x, size_t rows, size_t width, float* unit, float* inverse);
// dx (+)= (dunit - unit <unit, dunit>) * inverse, row by row; `add` says whether dx is added to.
void NormalizeRowsBackward(const float* dunit, const float* unit, const float* inverse, size_t rows,
                           size_t width, bool add, float* dx);

}  // namespace waymark
