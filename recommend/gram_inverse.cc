#include "recommend/gram_inverse.h"

#include <cblas.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

// LAPACK in OpenBLAS; Debian ships no lapacke.h with it. Column-major: "L" here is the upper triangle of a
// row-major matrix.
extern "C" {
void spotrf_(const char* uplo, const int* n, float* a, const int* lda, int* info);
void spotri_(const char* uplo, const int* n, float* a, const int* lda, int* info);
}

namespace waymark {
namespace {

absl::Status Failed(const char* what, int info) {
  return absl::InternalError(absl::StrCat(what, " failed with ", info,
                                          ": the matrix is not positive definite in single precision; "
                                          "a larger lambda helps"));
}

void MirrorUpper(std::vector<float>* a, size_t n) {
  constexpr size_t kBlock = 64;  // both sides of a block stay in the cache
  for (size_t bi = 0; bi < n; bi += kBlock) {
    for (size_t bj = bi; bj < n; bj += kBlock) {
      for (size_t i = bi; i < std::min(n, bi + kBlock); ++i) {
        for (size_t j = std::max(bj, i + 1); j < std::min(n, bj + kBlock); ++j)
          (*a)[j * n + i] = (*a)[i * n + j];
      }
    }
  }
}

// By the columns' side. Row-major upper triangles throughout.
absl::StatusOr<std::vector<float>> Direct(const SparseRows& x, size_t n, double lambda) {
  std::vector<float> a(n * n, 0.0f);
  for (size_t r = 0; r < x.rows(); ++r) {
    for (uint64_t i = x.starts[r]; i < x.starts[r + 1]; ++i) {
      for (uint64_t j = i; j < x.starts[r + 1]; ++j) a[size_t{x.columns[i]} * n + x.columns[j]] += 1;
    }
  }
  for (size_t i = 0; i < n; ++i) a[i * n + i] += static_cast<float>(lambda);
  const int size = static_cast<int>(n);
  int info = 0;
  spotrf_("L", &size, a.data(), &size, &info);
  if (info != 0) return Failed("Cholesky factorisation", info);
  spotri_("L", &size, a.data(), &size, &info);
  if (info != 0) return Failed("inversion", info);
  MirrorUpper(&a, n);
  return a;
}

// By the rows' side: K = X X^T + lambda I = L L^T, Z = L^-1 X, then (I - Z^T Z) / lambda.
absl::StatusOr<std::vector<float>> ByRows(const SparseRows& x, size_t n, double lambda) {
  const size_t m = x.rows();
  std::vector<float> z(m * n, 0.0f);
  for (size_t r = 0; r < m; ++r) {
    for (uint64_t i = x.starts[r]; i < x.starts[r + 1]; ++i) z[r * n + x.columns[i]] = 1;
  }
  const int rows = static_cast<int>(m), columns = static_cast<int>(n);
  std::vector<float> k(m * m, 0.0f);
  for (size_t r = 0; r < m; ++r) k[r * m + r] = static_cast<float>(lambda);
  cblas_ssyrk(CblasRowMajor, CblasLower, CblasNoTrans, rows, columns, 1, z.data(), columns, 1, k.data(),
              rows);
  int info = 0;
  spotrf_("U", &rows, k.data(), &rows, &info);  // row-major lower
  if (info != 0) return Failed("Cholesky factorisation", info);
  cblas_strsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, rows, columns, 1, k.data(),
              rows, z.data(), columns);
  std::vector<float> a(n * n, 0.0f);
  const auto scale = static_cast<float>(1 / lambda);
  for (size_t i = 0; i < n; ++i) a[i * n + i] = scale;
  cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, columns, rows, -scale, z.data(), columns, 1, a.data(),
              columns);
  MirrorUpper(&a, n);
  return a;
}

}  // namespace

absl::StatusOr<std::vector<float>> InverseOfGram(const SparseRows& x, size_t columns, double lambda) {
  if (columns == 0) return std::vector<float>{};
  return x.rows() < columns ? ByRows(x, columns, lambda) : Direct(x, columns, lambda);
}

}  // namespace waymark
