#include "training/retriever/distinct_rows.h"

#include <algorithm>

namespace waymark {

void DistinctRows::Clear() {
  for (int64_t row : rows_) place_of_[static_cast<size_t>(row)] = -1;
  rows_.clear();
}

void CopyRows(const float* from, absl::Span<const int32_t> places, int64_t width, float* to) {
  for (int32_t place : places) {
    std::copy_n(from + place * width, width, to);
    to += width;
  }
}

void AddRows(const float* from, absl::Span<const int32_t> places, int64_t width, float* to) {
  for (int32_t place : places) {
    float* sum = to + place * width;
#pragma omp simd
    for (int64_t c = 0; c < width; ++c) sum[c] += from[c];
    from += width;
  }
}

}  // namespace waymark
