#include "training/ranker/row_table.h"

#include <cmath>

namespace waymark {
namespace {

// LibTorch makes normal numbers 16 at a time, and a tensor's last ones otherwise: pieces of such blocks, the
// last one with the rest, draw what the whole would.
constexpr int64_t kPieceRows = 4096;

torch::Tensor NormalShare(int64_t rows, int64_t width, double deviation, at::Generator& generator,
                          RowShare share) {
  torch::Tensor own = torch::empty({share.rows(rows), width});
  for (int64_t first = 0; first < rows;) {
    const int64_t count = rows - first < 2 * kPieceRows ? rows - first : kPieceRows;
    const torch::Tensor piece = torch::empty({count, width}).normal_(0, deviation, generator);
    // The first own row at or after `first`.
    const int64_t skip = (share.first - first % share.stride + share.stride) % share.stride;
    const int64_t taken = RowShare{skip, share.stride}.rows(count);
    if (taken > 0) {
      own.narrow(0, (first + skip) / share.stride, taken)
          .copy_(piece.slice(0, skip, std::nullopt, share.stride));
    }
    first += count;
  }
  return own;
}

}  // namespace

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

RowTable::RowTable(int64_t rows, int64_t width, double deviation, at::Generator generator, RowShare share)
    : rows_(rows),
      values_(share.stride == 1 ? torch::empty({rows, width}).normal_(0, deviation, generator)
                                : NormalShare(rows, width, deviation, generator, share)),
      m_(torch::zeros_like(values_)),
      v_(torch::zeros_like(values_)) {}

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
