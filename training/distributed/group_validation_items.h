// Vectors of items to validate on where the tables are spread over ranks. Includes LibTorch: for training/
// only.
#pragma once
#include "training/distributed/group_step_ranks.h"
#include "training/retriever/validation_items.h"

namespace waymark {

class GroupValidationItems : public ValidationItems {
 public:
  // group: the ranks that the tables are spread over. All of these must outlive it.
  GroupValidationItems(RankGroup* group, const RetrieverModel* model, const RetrieverCorpus* corpus,
                       GroupStepRanks* tables)
      : ValidationItems(&model->dense, corpus, tables->ids(), tables->buckets(),
                        model->shape.content_buckets),
        group_(group) {}
  int64_t MostOfRanks(int64_t own) override {
    return group_->Gather(at::scalar_tensor(own, at::kLong).view({1})).max().item<int64_t>();
  }

 private:
  RankGroup* group_;
};

}  // namespace waymark
