// AdamW (Loshchilov, Hutter 2019) with its state in plain tensors: for the dense parameters, and for tables
// of vectors of which one step touches few rows. LibTorch's own optimizers update every row of a table in
// every step and keep their state where a checkpoint of ours can't read it.
#pragma once
#include <torch/torch.h>

#include <string>
#include <vector>

#include "store/package/safetensors.h"
#include "training/row_share.h"

namespace waymark {

struct AdamWOptions {
  double learning_rate = 2e-3, weight_decay = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
};

// One step on `value` [any shape]; m and v have its shape. `step` counts from 1.
void AdamWStep(const AdamWOptions& options, int64_t step, const torch::Tensor& gradient, torch::Tensor* value,
               torch::Tensor* m, torch::Tensor* v);

// Rows that a step does not touch keep value and moments (lazy Adam).
class RowTable {
 public:
  // Normal values of that deviation. Of a share, which are then those that its rows have in the whole table.
  RowTable(int64_t rows, int64_t width, double deviation, at::Generator generator, RowShare share = {});
  int64_t rows() const { return rows_; }                   // of the whole
  const torch::Tensor& values() const { return values_; }  // [own rows, width]
  // A leaf with gradient: own rows `indices` (distinct), in order.
  torch::Tensor Gather(const torch::Tensor& indices) const;
  // Gradients of some of the rows, of one part of a batch.
  struct Part {
    torch::Tensor indices;   // distinct
    torch::Tensor gradient;  // [indices, width]; undefined: none
  };
  // One step on the own rows that the parts name, with the sum of their gradients in the order of the parts.
  void Update(const AdamWOptions& options, int64_t step, const std::vector<Part>& parts);

  int64_t rows_;
  torch::Tensor values_, m_, v_;
};

}  // namespace waymark
