#include "training/distributed/mesh/mesh_shape.h"

#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace waymark {
namespace {

std::string RanksText(int ranks) {
  return ranks == 1 ? "there is one rank" : absl::StrCat("there are ", ranks, " ranks");
}

}  // namespace

std::vector<int> MeshShape::SameSlice(int slice) const {
  std::vector<int> ranks;
  for (int copy = 0; copy < data; ++copy) ranks.push_back(copy * slices() + slice);
  return ranks;
}

std::vector<int> MeshShape::OfCopy(int copy) const {
  std::vector<int> ranks;
  for (int slice = 0; slice < slices(); ++slice) ranks.push_back(copy * slices() + slice);
  return ranks;
}

EncoderSlice MeshShape::SliceOf(const RetrieverShape& shape, int slice) const {
  if (pipeline > 1) return StageSlice(shape, slice, pipeline);
  EncoderSlice of;
  of.part = slice;
  of.parts = tensor;
  return of;
}

std::string MeshShape::Text() const {
  std::string text = absl::StrCat("data=", data);
  if (tensor > 1) absl::StrAppend(&text, ",tensor=", tensor);
  if (pipeline > 1) absl::StrAppend(&text, ",pipeline=", pipeline);
  return text;
}

absl::StatusOr<MeshShape> MeshOf(const std::string& text, int ranks) {
  MeshShape mesh;
  std::map<std::string, int*> axes = {
      {"data", &mesh.data}, {"tensor", &mesh.tensor}, {"pipeline", &mesh.pipeline}};
  std::map<std::string, bool> given;
  const std::vector<std::string> parts = absl::StrSplit(text, ',', absl::SkipEmpty());
  for (const std::string& axis : parts) {
    const std::vector<std::string> sides = absl::StrSplit(axis, '=');
    if (!axes.contains(sides[0])) {
      return absl::InvalidArgumentError(
          absl::StrCat("--mesh has no axis '", sides[0], "'; it has data, tensor and pipeline"));
    }
    if (given[sides[0]]) return absl::InvalidArgumentError(absl::StrCat("--mesh names ", sides[0], " twice"));
    given[sides[0]] = true;
    if (sides.size() != 2 || !absl::SimpleAtoi(sides[1], axes[sides[0]]) || *axes[sides[0]] < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("--mesh: '", axis, "' is no ", sides[0], "=NUMBER with a number of 1 or more"));
    }
  }
  if (mesh.tensor > 1 && mesh.pipeline > 1) {
    return absl::InvalidArgumentError(
        "--mesh: there are meshes of data and tensor and of data and pipeline, none of tensor and pipeline");
  }
  if (!given["data"]) {
    if (ranks % mesh.slices() != 0) {
      return absl::InvalidArgumentError(absl::StrCat("--mesh ", text, " wants a multiple of ", mesh.slices(),
                                                     " ranks, and ", RanksText(ranks)));
    }
    mesh.data = ranks / mesh.slices();
  }
  if (mesh.ranks() != ranks) {
    return absl::InvalidArgumentError(
        absl::StrCat("--mesh ", text, " wants ", mesh.ranks(), " ranks, and ", RanksText(ranks)));
  }
  return mesh;
}

absl::Status CheckMesh(const MeshShape& mesh, const RetrieverShape& shape, const JobOptions& job) {
  if (absl::Status divides = CheckDivides(shape, mesh.tensor, mesh.pipeline); !divides.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--mesh ", mesh.Text(), ": ", divides.message()));
  }
  if (mesh.data == 1) {
    for (const auto& [name, given] :
         {std::pair{"--shard-optimizer", job.shard_optimizer}, {"--share-rows", job.share_rows}}) {
      if (given && (mesh.slices() > 1 || job.shard_optimizer)) {
        return absl::InvalidArgumentError(absl::StrCat(
            name, " divides among the ranks of the axis data, and --mesh ", mesh.Text(), " has one"));
      }
    }
  }
  if (mesh.slices() == 1) return absl::OkStatus();
  if (job.threads > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--mesh ", mesh.Text(), " passes a batch's parts one after the other: leave out --threads"));
  }
  if (mesh.pipeline > 1 && job.accumulate > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--mesh ", mesh.Text(), ": the parts of a batch are the micro-batches of a pipeline: say --parts ",
        "instead of --accumulate"));
  }
  if (mesh.pipeline > 1 && job.backend == "nccl") {
    return absl::InvalidArgumentError(
        "--mesh with pipeline sends from rank to rank, which --backend nccl does not do here; gloo and mpi "
        "do");
  }
  return absl::OkStatus();
}

}  // namespace waymark
