#include "training/distributed/mesh/whole_encoder.h"

namespace waymark {
namespace {

// Each part's piece of a tensor that is cut, into a whole.
at::Tensor JoinPieces(const RetrieverModel& model, const RankMesh& mesh, size_t t) {
  const DenseWeights& dense = model.dense;
  const at::Tensor all = mesh.copy()->Gather(dense.tensors[t].reshape({-1}));
  at::Tensor whole = at::empty(dense.places[t].whole.shape, at::kFloat);
  for (int slice = 0; slice < mesh.shape().slices(); ++slice) {
    const auto places = TensorsOfSlice(model.shape, mesh.shape().SliceOf(model.shape, slice));
    PutInto(places[t], all[slice].view(dense.names[t].shape), &whole);
  }
  return whole;
}

void GatherStages(const RetrieverModel& model, const RankMesh& mesh, TensorMap* out) {
  if (mesh.slice() > 0) {
    for (const at::Tensor& tensor : model.dense.tensors) mesh.copy()->BeginSend(tensor, 0)->Wait();
    return;
  }
  AppendTensors(model.dense, out);
  for (int stage = 1; stage < mesh.shape().pipeline; ++stage) {
    for (const PlacedTensor& place : TensorsOfSlice(model.shape, mesh.shape().SliceOf(model.shape, stage))) {
      at::Tensor tensor = at::empty(place.whole.shape, at::kFloat);
      mesh.copy()->Receive(tensor, stage);
      (*out)[place.whole.name] = ToTensorData(tensor);
    }
  }
}

}  // namespace

void GatherEncoder(const RetrieverModel& model, const RankMesh& mesh, TensorMap* out) {
  const bool first = mesh.all()->rank() == 0;
  if (mesh.shape().slices() == 1) {
    if (first) AppendTensors(model.dense, out);
    return;
  }
  if (mesh.shape().copy_of(mesh.all()->rank()) != 0) return;
  if (mesh.shape().pipeline > 1) return GatherStages(model, mesh, out);
  for (size_t t = 0; t < model.dense.tensors.size(); ++t) {
    const bool copied = model.dense.places[t].copied;
    const at::Tensor whole = copied ? model.dense.tensors[t] : JoinPieces(model, mesh, t);
    if (first) (*out)[model.dense.names[t].name] = ToTensorData(whole);
  }
}

}  // namespace waymark
