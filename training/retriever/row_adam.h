// Adam (Kingma & Ba 2015) on some rows of a table. Rows that a step did not touch keep their weights and
// moments («lazy» Adam), so that a step's cost does not grow with the catalogue.
//
// No LibTorch here: the loop compiles with vectorisation flags of its own.
#pragma once
#include <cstdint>

#include "absl/types/span.h"

namespace waymark {

struct AdamStep {
  double learning_rate = 1e-3;
  int64_t step = 1;           // from 1: for the correction of the moments' start at zero
  double gradient_scale = 1;  // from clipping
  double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-8;
};

// weights, first, second (the moments): [table rows, columns].
struct AdamTable {
  float* weights;
  float* first;
  float* second;
  int64_t columns;
};

// gradient: [rows.size(), columns], in the order of `rows`, which are distinct.
void AdamRows(const AdamStep& step, absl::Span<const int64_t> rows, const float* gradient,
              const AdamTable& table);

}  // namespace waymark
