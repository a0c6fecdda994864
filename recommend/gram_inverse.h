// (X^T X + lambda I)^-1 for a sparse X of ones, as a dense matrix: what EASE needs.
#pragma once
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace waymark {

// The ones of X [rows, columns]: of row r at columns[starts[r] .. starts[r + 1]), ascending.
struct SparseRows {
  std::vector<uint64_t> starts{0};
  std::vector<uint32_t> columns;
  size_t rows() const { return starts.size() - 1; }
};

// [columns, columns], symmetric. By Cholesky factorisation in single precision, columns^3 operations; with
// fewer rows than columns through the rows' side (Woodbury's identity), which takes rows * columns^2:
//   (X^T X + lambda I)^-1 = (I - X^T (X X^T + lambda I)^-1 X) / lambda.
// INTERNAL: not positive definite in single precision.
absl::StatusOr<std::vector<float>> InverseOfGram(const SparseRows& x, size_t columns, double lambda);

}  // namespace waymark
