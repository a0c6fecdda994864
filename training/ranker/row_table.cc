#include "training/ranker/row_table.h"

#include <cmath>

namespace waymark {

void AdamWStep(const AdamWOptions& o, int64_t step, const torch::Tensor& gradient, torch::Tensor* value,
               torch::Tensor* m, torch::Tensor* v) {
  m->mul_(o.beta1).add_(gradient, 1 - o.beta1);
  v->mul_(o.beta2).addcmul_(gradient, gradient, 1 - o.beta2);
  const double correction1 = 1 - std::pow(o.beta1, static_cast<double>(step));
  const double correction2 = 1 - std::pow(o.beta2, static_cast<double>(step));
  value->mul_(1 - o.learning_rate * o.weight_decay);
  const torch::Tensor divisor = v->sqrt().div_(std::sqrt(correction2)).add_(o.epsilon);
  value->addcdiv_(*m, divisor, -o.learning_rate / correction1);
}

RowTable::RowTable(int64_t rows, int64_t width, double deviation, at::Generator generator)
    : values_(torch::empty({rows, width}).normal_(0, deviation, generator)),
      m_(torch::zeros({rows, width})),
      v_(torch::zeros({rows, width})) {}

torch::Tensor RowTable::Gather(const torch::Tensor& indices) const {
  return values_.index_select(0, indices).detach().requires_grad_(true);
}

void RowTable::Update(const AdamWOptions& options, int64_t step, const std::vector<Part>& parts) {
  std::vector<torch::Tensor> indices, gradients;
  for (const Part& part : parts) {
    if (!part.gradient.defined()) continue;
    indices.push_back(part.indices);
    gradients.push_back(part.gradient);
  }
  if (indices.empty()) return;
  torch::NoGradGuard no_gradient;
  const auto [rows, place, counts] =
      at::_unique2(torch::cat(indices), /*sorted=*/true, /*return_inverse=*/true);
  const torch::Tensor gradient =
      torch::zeros({rows.size(0), values_.size(1)}).index_add_(0, place, torch::cat(gradients));
  torch::Tensor value = values_.index_select(0, rows), m = m_.index_select(0, rows),
                v = v_.index_select(0, rows);
  AdamWStep(options, step, gradient, &value, &m, &v);
  values_.index_copy_(0, rows, value);
  m_.index_copy_(0, rows, m);
  v_.index_copy_(0, rows, v);
}

}  // namespace waymark
