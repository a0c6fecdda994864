// The attention ranker: candidates attend to the user's newest events and, when there is a query, to its
// words; beside it dense features with a linear skip. LibTorch stays behind this header (rank/network/).
// Loaded from a model package:
//
//   manifest.json        kind "ranker", network (rank/network/ranker_config.h), features, metrics
//   weights.safetensors  the network's parameters, feature_mean and feature_scale [features],
//                        item_vectors [items, width], content_vectors [content_buckets, width],
//                        query_vectors [query_buckets, width]
//   items.txt            ids of the rows of item_vectors
//
// Explanations: the linear skip adds weight * value; the rest is attributed by integrated gradients
// (Sundararajan et al. 2017, 16 midpoints) from the average candidate to this one; what the network takes
// from the item's own vector, the history and the query's words are rows of these names, and "interactions"
// holds what the sum of 16 steps leaves, so that all rows sum to score - baseline.
#pragma once
#include <memory>

#include "candidates/item_directory.h"
#include "rank/ranker.h"
#include "store/package/model_package.h"

namespace waymark {

// Checks kind, network, features (name and hash), tensor shapes, finite weights, and that the ranker belongs
// to `retriever_sha256` (FAILED_PRECONDITION names both). A ranker that was trained without a retriever
// works beside any.
absl::StatusOr<std::unique_ptr<Ranker>> LoadAttentionRanker(const ModelPackage& package,
                                                            const ItemDirectory* items,
                                                            const std::string& retriever_sha256);

// Whether so many training lists teach what a query means: at least 100, and either 1,000 or one in twenty.
bool KnowsQueries(int64_t lists, int64_t lists_with_query);

}  // namespace waymark
