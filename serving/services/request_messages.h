// Searches, feeds and ranking calls between the API and the pipeline. What the pipeline checks itself
// (pipeline/request_check.h) is not checked again here: only what protobuf lets through and the internal
// form cannot hold.
#pragma once
#include "absl/status/statusor.h"
#include "pipeline/request.h"
#include "store/ids.h"
#include "waymark/v1/rank.pb.h"
#include "waymark/v1/recommend.pb.h"
#include "waymark/v1/search.pb.h"

namespace waymark {

// INVALID_ARGUMENT names the field: enumerators that this version does not know, contexts that are too deep
// or hold numbers that are none.
absl::StatusOr<PipelineRequest> RequestOf(const v1::SearchRequest& request);
absl::StatusOr<PipelineRequest> RequestOf(const v1::RecommendRequest& request);
absl::StatusOr<PipelineRequest> RequestOf(const v1::RankRequest& request);

void ToMessage(const CollectionName& collection, const PipelineResponse& answer,
               v1::SearchResponse* response);
void ToMessage(const CollectionName& collection, const PipelineResponse& answer,
               v1::RecommendResponse* response);
void ToMessage(const CollectionName& collection, const PipelineResponse& answer, v1::RankResponse* response);

}  // namespace waymark
