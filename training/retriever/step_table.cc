#include "training/retriever/step_table.h"

namespace waymark {

double SquaredNorm(const float* x, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(x[i]) * x[i];
  return sum;
}

WholeTable::WholeTable(at::Tensor weights, at::Tensor first, at::Tensor second)
    : weights_(std::move(weights)), first_(std::move(first)), second_(std::move(second)) {}

AdamTable WholeTable::adam() const {
  return {weights_.data_ptr<float>(), first_.data_ptr<float>(), second_.data_ptr<float>(), columns()};
}

at::Tensor WholeTable::Rows(absl::Span<const int64_t> rows, std::vector<int64_t>* places) {
  places->assign(rows.begin(), rows.end());
  return weights_;
}

double WholeTable::Collect(absl::Span<const int64_t> rows, int64_t /*shared*/, float* gradient) {
  rows_ = rows;
  gradient_ = gradient;
  return SquaredNorm(gradient, static_cast<int64_t>(rows.size()) * columns());
}

void WholeTable::Update(const AdamStep& step) { AdamRows(step, rows_, gradient_, adam()); }

}  // namespace waymark
