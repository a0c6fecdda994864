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

void RowTable::Update(const AdamWOptions& options, int64_t step, const torch::Tensor& indices,
                      const torch::Tensor& leaf) {
  if (!leaf.grad().defined()) return;
  torch::NoGradGuard no_gradient;
  torch::Tensor value = leaf.detach(), m = m_.index_select(0, indices), v = v_.index_select(0, indices);
  AdamWStep(options, step, leaf.grad(), &value, &m, &v);
  values_.index_copy_(0, indices, value);
  m_.index_copy_(0, indices, m);
  v_.index_copy_(0, indices, v);
}

}  // namespace waymark
