// Counts a facet over a set of items, by term numbers and numbers of the columns; texts are read for the
// values that are listed only.
//
// Not thread-safe beside changes to the columns. For catalog/ alone.
#pragma once
#include "absl/functional/function_ref.h"
#include "catalog/facet.h"
#include "catalog/item_columns.h"

namespace waymark {

// `expired` is asked every few thousand items: DEADLINE_EXCEEDED when it says so. INVALID_ARGUMENT: the
// histogram has more than kMostHistogramBuckets intervals.
absl::StatusOr<FacetCounts> CountFacet(const Facet& facet, const Bitmap& items, const ItemColumns& columns,
                                       absl::FunctionRef<bool()> expired);

}  // namespace waymark
