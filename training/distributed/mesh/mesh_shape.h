// How the ranks of a run are laid out: copies of a model that see different data, and of each copy the ranks
// that hold it together. `--mesh data=2,tensor=2` is two copies, each on two neighbouring ranks.
//
//   absl::StatusOr<MeshShape> mesh = MeshOf("tensor=2", 4);   // data=2, tensor=2
#pragma once
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "recommend/network/encoder_slice.h"
#include "training/distributed/train_job.h"

namespace waymark {

struct MeshShape {
  int data = 1, tensor = 1, pipeline = 1;

  int slices() const { return tensor * pipeline; }  // of a copy
  int ranks() const { return data * slices(); }
  int copy_of(int rank) const { return rank / slices(); }
  int slice_of(int rank) const { return rank % slices(); }
  // The ranks that hold the same slice of each copy, and those of one copy.
  std::vector<int> SameSlice(int slice) const;
  std::vector<int> OfCopy(int copy) const;
  // What a slice holds of the encoder.
  EncoderSlice SliceOf(const RetrieverShape& shape, int slice) const;
  std::string Text() const;  // "data=2,tensor=2"
};

// text: as above, empty: data alone; what it leaves out of data is what the ranks give. INVALID_ARGUMENT: an
// unknown axis, a combination that there is not, or ranks that it does not divide.
absl::StatusOr<MeshShape> MeshOf(const std::string& text, int ranks);
// INVALID_ARGUMENT: the network or the job's other options do not go with the mesh.
absl::Status CheckMesh(const MeshShape& mesh, const RetrieverShape& shape, const JobOptions& job);

}  // namespace waymark
