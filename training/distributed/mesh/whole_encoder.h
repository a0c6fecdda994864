// The encoder's tensors of a copy that several ranks hold together, whole. Includes LibTorch: for training/
// only.
#pragma once
#include "store/package/safetensors.h"
#include "training/distributed/mesh/rank_mesh.h"
#include "training/retriever/retriever_model.h"

namespace waymark {

// Called on all ranks; `out` is filled on the first one, a tensor at a time, so that no rank but that one
// holds more than a tensor beside its slice.
void GatherEncoder(const RetrieverModel& model, const RankMesh& mesh, TensorMap* out);

}  // namespace waymark
