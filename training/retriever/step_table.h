// A table of which a step touches some rows, as the step sees it: rows that are read, gradients of rows that
// are added up, rows that are updated. In one process that is the table itself; over ranks it may be a copy
// on each, or a part on each (training/distributed/).
//
//   at::Tensor view = table.Rows(rows, &places);            // row places[i] of view is row rows[i]
//   double norm2 = table.Collect(rows, shared, gradient);   // squared norm of the whole gradient
//   table.Update(step);
//
// One thread. Includes LibTorch: for training/ only.
#pragma once
#include <torch/torch.h>

#include <vector>

#include "absl/types/span.h"
#include "training/retriever/row_adam.h"

namespace waymark {

double SquaredNorm(const float* x, int64_t count);

class StepTable {
 public:
  virtual ~StepTable() = default;
  // A tensor [.., columns] that holds the rows; places[i] is where rows[i] is, kNoRow where that is asked
  // for. The rows are distinct. Valid until the next call.
  virtual at::Tensor Rows(absl::Span<const int64_t> rows, std::vector<int64_t>* places) = 0;
  // The gradient of this process's rows, [rows.size(), columns], which stays where it is until Update. The
  // first `shared` rows are the same ones on every rank. Answers the squared norm of the sum over ranks.
  virtual double Collect(absl::Span<const int64_t> rows, int64_t shared, float* gradient) = 0;
  // Adam on the rows that were collected.
  virtual void Update(const AdamStep& step) = 0;
};

// The table in one process.
class WholeTable : public StepTable {
 public:
  // weights, first, second: [rows, columns]
  WholeTable(at::Tensor weights, at::Tensor first, at::Tensor second);
  at::Tensor Rows(absl::Span<const int64_t> rows, std::vector<int64_t>* places) override;
  double Collect(absl::Span<const int64_t> rows, int64_t shared, float* gradient) override;
  void Update(const AdamStep& step) override;

 protected:
  const at::Tensor& weights() const { return weights_; }
  int64_t columns() const { return weights_.size(1); }
  AdamTable adam() const;

 private:
  at::Tensor weights_, first_, second_;
  absl::Span<const int64_t> rows_;
  const float* gradient_ = nullptr;
};

}  // namespace waymark
