#include "training/distributed/mesh/rank_mesh.h"

#include "absl/strings/str_cat.h"

namespace waymark {

absl::StatusOr<std::unique_ptr<RankMesh>> RankMesh::Make(RankGroup* all, const MeshShape& shape) {
  std::unique_ptr<RankMesh> mesh(new RankMesh(all, shape));
  if (shape.slices() == 1) return mesh;
  const int copy = shape.copy_of(all->rank()), slice = shape.slice_of(all->rank());
  auto data = all->Split(absl::StrCat("slice", slice), shape.SameSlice(slice));
  if (!data.ok()) return data.status();
  auto of_copy = all->Split(absl::StrCat("copy", copy), shape.OfCopy(copy));
  if (!of_copy.ok()) return of_copy.status();
  mesh->data_ = *std::move(data);
  mesh->copy_ = *std::move(of_copy);
  return mesh;
}

int64_t RankMesh::bytes_sent() const {
  return all_->bytes_sent() + (data_ != nullptr ? data_->bytes_sent() + copy_->bytes_sent() : 0);
}

}  // namespace waymark
