#include "training/distributed/group_step_ranks.h"

namespace waymark {

GroupStepRanks::GroupStepRanks(RankGroup* group, RetrieverModel* model, bool share_rows) : group_(group) {
  if (share_rows) {
    ids_ = std::make_unique<SharedTable>(group, model->tables.id, model->id_moments.first,
                                         model->id_moments.second);
  } else {
    auto copied = std::make_unique<CopiedTable>(group, model->tables.id, model->id_moments.first,
                                                model->id_moments.second);
    copied_ids_ = copied.get();
    ids_ = std::move(copied);
  }
  buckets_ = std::make_unique<CopiedTable>(group, model->tables.buckets, model->bucket_moments.first,
                                           model->bucket_moments.second);
}

void GroupStepRanks::BeginSum(float* gradient, int64_t first, int64_t count) {
  std::lock_guard lock(mutex_);
  sums_.push_back(group_->BeginSum(at::from_blob(gradient + first, {count}, at::kFloat)));
}

double GroupStepRanks::AgreeOn(double loss, int64_t own_ids, int64_t own_buckets) {
  at::Tensor own = at::empty({4}, at::kDouble);
  double* values = own.data_ptr<double>();
  values[0] = loss;
  values[1] = static_cast<double>(own_ids);
  values[2] = static_cast<double>(own_buckets);
  values[3] = asking_;
  const at::Tensor all = group_->Gather(own).contiguous();
  std::vector<int64_t> ids, buckets;
  double sum = 0;
  asked_ = 0;
  for (int r = 0; r < group_->size(); ++r) {
    const double* of_rank = all.data_ptr<double>() + 4 * r;
    sum += of_rank[0];
    ids.push_back(static_cast<int64_t>(of_rank[1]));
    buckets.push_back(static_cast<int64_t>(of_rank[2]));
    asked_ |= static_cast<int>(of_rank[3]);
  }
  if (copied_ids_ != nullptr) copied_ids_->SetCounts(std::move(ids));
  buckets_->SetCounts(std::move(buckets));
  return sum;
}

void GroupStepRanks::FinishSums() {
  std::lock_guard lock(mutex_);
  for (const auto& sum : sums_) sum->Wait();
  sums_.clear();
}

}  // namespace waymark
