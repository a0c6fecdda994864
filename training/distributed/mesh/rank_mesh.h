// The ranks of a mesh as groups: all of them, those with this rank's slice in the other copies of the model
// (gradients are added up over them), and those that hold this rank's copy together.
//
// Includes LibTorch: for training/ only. As a RankGroup is used, one thread at a time.
#pragma once
#include <memory>

#include "training/distributed/mesh/mesh_shape.h"
#include "training/distributed/rank_group.h"

namespace waymark {

class RankMesh {
 public:
  // Called on all ranks. `all` must outlive it.
  static absl::StatusOr<std::unique_ptr<RankMesh>> Make(RankGroup* all, const MeshShape& shape);

  const MeshShape& shape() const { return shape_; }
  int slice() const { return shape_.slice_of(all_->rank()); }
  RankGroup* all() const { return all_; }
  RankGroup* data() const { return data_ != nullptr ? data_.get() : all_; }
  // Of one rank: null.
  RankGroup* copy() const { return copy_.get(); }
  int64_t bytes_sent() const;

 private:
  RankMesh(RankGroup* all, const MeshShape& shape) : all_(all), shape_(shape) {}

  RankGroup* all_;
  MeshShape shape_;
  std::unique_ptr<RankGroup> data_, copy_;  // null where a copy is one rank
};

}  // namespace waymark
