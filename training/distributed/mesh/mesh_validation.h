// Validation where several ranks hold a copy of the model together: histories go through the slices as a
// step's do, 64 users at a time. Includes LibTorch: for training/ only.
#pragma once
#include "training/distributed/mesh/mesh_peers.h"
#include "training/retriever/retriever_validation.h"

namespace waymark {

// items: where this rank has what turns items into vectors, else null. The answer is the same on all
// ranks of the copy, which see the same users.
RetrieverValidation ValidateOnMesh(const RetrieverModel& model, ValidationItems* items,
                                   const RetrieverCorpus& corpus, absl::Span<const size_t> users,
                                   MeshPeers* peers, ShardPool* pool);

}  // namespace waymark
