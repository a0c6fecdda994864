#include "training/retriever/row_adam.h"

#include <cmath>

namespace waymark {

void AdamRows(const AdamStep& step, absl::Span<const int64_t> rows, const float* gradient,
              const AdamTable& table) {
  const float rate = static_cast<float>(step.learning_rate / (1 - std::pow(step.beta1, step.step)));
  const float correction = static_cast<float>(1 / (1 - std::pow(step.beta2, step.step)));
  const float scale = static_cast<float>(step.gradient_scale), epsilon = static_cast<float>(step.epsilon);
  const float beta1 = static_cast<float>(step.beta1), beta2 = static_cast<float>(step.beta2);
  for (size_t i = 0; i < rows.size(); ++i) {
    float* weights = table.weights + rows[i] * table.columns;
    float* first = table.first + rows[i] * table.columns;
    float* second = table.second + rows[i] * table.columns;
    const float* own = gradient + static_cast<int64_t>(i) * table.columns;
#pragma omp simd
    for (int64_t c = 0; c < table.columns; ++c) {
      const float g = own[c] * scale;
      first[c] = beta1 * first[c] + (1 - beta1) * g;
      second[c] = beta2 * second[c] + (1 - beta2) * g * g;
      weights[c] -= rate * first[c] / (std::sqrt(second[c] * correction) + epsilon);
    }
  }
}

}  // namespace waymark
