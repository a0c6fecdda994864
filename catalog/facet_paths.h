// Hierarchical facets: KEYWORD values that are paths, «Electronics > Audio > Headphones», counted at each
// level.
//
// Not thread-safe beside changes to the column. For catalog/ alone.
#pragma once
#include "absl/functional/function_ref.h"
#include "catalog/facet.h"
#include "catalog/keyword_column.h"

namespace waymark {

// Counts each item once for each path that it lies under, over the levels that the facet asks for. False:
// `expired` said so.
bool CountPaths(const Facet& facet, const Bitmap& items, const KeywordColumn& column,
                absl::FunctionRef<bool()> expired, FacetCounts* out);

}  // namespace waymark
