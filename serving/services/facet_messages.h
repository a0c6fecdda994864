// Facets between the API and the pipeline.
#pragma once
#include <vector>

#include "absl/status/statusor.h"
#include "pipeline/request.h"
#include "waymark/v1/search.pb.h"

namespace waymark {

// INVALID_ARGUMENT names the facet.
absl::StatusOr<std::vector<FacetAsked>> FacetsOf(const v1::SearchRequest& request);
void ToMessage(const FacetAnswer& answer, v1::Facet* facet);

}  // namespace waymark
