// The attention ranker: candidates attend to the user's newest events and, when there is a query, to its
// words; beside it dense features with a linear skip. LibTorch stays behind this header (rank/network/).
// Loaded from a model package.
#pragma once
#include <memory>

#include "candidates/item_directory.h"
#include "rank/ranker.h"
#include "store/package/model_package.h"

namespace waymark {

// Checks kind, network, features (name and hash), tensor shapes, finite weights, and that the ranker belongs
// to `retriever_sha256` (FAILED_PRECONDITION names both).
absl::StatusOr<std::unique_ptr<Ranker>> LoadAttentionRanker(const ModelPackage& package,
                                                            const ItemDirectory* items,
                                                            const std::string& retriever_sha256);

}  // namespace waymark
