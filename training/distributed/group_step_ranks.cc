#include "training/distributed/group_step_ranks.h"

#include "training/distributed/mesh/shared_moments.h"

namespace waymark {

std::unique_ptr<StepTable> GroupStepRanks::Table(const at::Tensor& weights, const AdamMoments& moments,
                                                 bool share_rows, CopiedTable** copied) const {
  if (share_rows) return std::make_unique<SharedTable>(group_, weights, moments.first, moments.second);
  std::unique_ptr<CopiedTable> table;
  if (model_->share.moments.stride == 1) {
    table = std::make_unique<CopiedTable>(group_, weights, moments.first, moments.second);
  } else {
    table = std::make_unique<MomentSharedTable>(group_, weights, moments.first, moments.second);
  }
  *copied = table.get();
  return table;
}

GroupStepRanks::GroupStepRanks(const RankMesh* mesh, RetrieverModel* model, bool share_rows)
    : mesh_(mesh),
      group_(mesh->data()),
      model_(model),
      ids_(Table(model->tables.id, model->id_moments, share_rows, &copied_ids_)),
      buckets_(Table(model->tables.buckets, model->bucket_moments, share_rows, &copied_buckets_)) {}

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
  const MeshShape& shape = mesh_->shape();
  const at::Tensor all = mesh_->all()->Gather(own).contiguous();
  std::vector<int64_t> ids, buckets;
  double sum = 0;
  asked_ = 0;
  for (int r = 0; r < shape.ranks(); ++r) {
    const double* of_rank = all.data_ptr<double>() + 4 * r;
    // The last stage of a copy knows its loss; parts of blocks all do.
    if (shape.slice_of(r) == shape.pipeline - 1) sum += of_rank[0];
    if (shape.slice_of(r) == mesh_->slice()) {
      ids.push_back(static_cast<int64_t>(of_rank[1]));
      buckets.push_back(static_cast<int64_t>(of_rank[2]));
    }
    asked_ |= static_cast<int>(of_rank[3]);
  }
  if (copied_ids_ != nullptr) copied_ids_->SetCounts(std::move(ids));
  if (copied_buckets_ != nullptr) copied_buckets_->SetCounts(std::move(buckets));
  return sum;
}

void GroupStepRanks::UpdateDense(const AdamStep& step, const at::Tensor& gradient) {
  if (model_->share.moments.stride > 1) {
    UpdateSlices(step, gradient, group_, model_);
  } else {
    AdamRows(step, {0}, gradient.data_ptr<float>(), model_->dense_moments.Table(model_->dense.flat));
  }
}

void GroupStepRanks::FinishSums() {
  std::lock_guard lock(mutex_);
  for (const auto& sum : sums_) sum->Wait();
  sums_.clear();
}

}  // namespace waymark
