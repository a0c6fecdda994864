// StepRanks over the ranks of a mesh. Includes LibTorch: for training/ only.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "training/distributed/mesh/rank_mesh.h"
#include "training/distributed/rank_tables.h"
#include "training/retriever/step_ranks.h"

namespace waymark {

class GroupStepRanks : public StepRanks {
 public:
  // share_rows: each rank holds its share of the tables (the model was made so), else a copy of all of them.
  GroupStepRanks(const RankMesh* mesh, RetrieverModel* model, bool share_rows);
  void BeginSum(float* gradient, int64_t first, int64_t count) override;
  double AgreeOn(double loss, int64_t own_ids, int64_t own_buckets) override;
  void FinishSums() override;
  StepTable* ids() override { return ids_.get(); }
  StepTable* buckets() override { return buckets_.get(); }
  void UpdateDense(const AdamStep& step, const at::Tensor& gradient) override;

  // What this rank wants (bits of the caller's): after the next step asked() is what any rank has wanted.
  void Ask(int bits) { asking_ = bits; }
  int asked() const { return asked_; }

 private:
  // copied: a copy on each rank, which is told of counts; else null.
  std::unique_ptr<StepTable> Table(const at::Tensor& weights, const AdamMoments& moments, bool share_rows,
                                   CopiedTable** copied) const;

  const RankMesh* mesh_;
  RankGroup* group_;  // that gradients are added up over
  RetrieverModel* model_;
  CopiedTable* copied_ids_ = nullptr;
  CopiedTable* copied_buckets_ = nullptr;
  std::unique_ptr<StepTable> ids_, buckets_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<PendingExchange>> sums_;
  int asking_ = 0, asked_ = 0;
};

}  // namespace waymark
