// Optimizer-state sharding (ZeRO stage 1, arXiv 1910.02054): each data rank keeps the moments of its share of
// the weights, updates those weights, and the others get them from it. Weights and gradients stay whole.
//
// Includes LibTorch: for training/ only.
#pragma once
#include "training/distributed/rank_tables.h"

namespace waymark {

// Adam on the rank's slice of the flat weights (ModelShare::MomentsOf), then all slices everywhere. gradient:
// the whole sum. In pieces of a bounded size.
void UpdateSlices(const AdamStep& step, const at::Tensor& gradient, RankGroup* group, RetrieverModel* model);

// A copied table of which rank r has the moments of rows r, r + size, ...
class MomentSharedTable : public CopiedTable {
 public:
  // first, second: [own rows, columns].
  MomentSharedTable(RankGroup* group, at::Tensor weights, at::Tensor first, at::Tensor second);
  void Update(const AdamStep& step) override;

 private:
  at::Tensor first_, second_;
};

}  // namespace waymark
