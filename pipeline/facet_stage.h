// Facets of a search: checked before it runs, counted over all that it matches.
//
//   auto facets = CheckFacets(request.facets, *catalog.schema());
//   FacetBase base{&catalog, filter.get(), context.allowed, matches};
//   auto answers = CountFacets(*facets, base, deadline, &degraded);
#pragma once
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "candidates/deadline.h"
#include "catalog/catalog.h"
#include "pipeline/request.h"

namespace waymark {

inline constexpr size_t kMostFacets = 32;

struct CheckedFacet {
  Facet facet;
  std::vector<std::string> excluded_filter_fields;  // sorted; its own among them where it is disjunctive
};

// INVALID_ARGUMENT names the facet: «facets[1].field: ...».
absl::StatusOr<std::vector<CheckedFacet>> CheckFacets(const std::vector<FacetAsked>& asked,
                                                      const Schema& schema);

struct FacetBase {
  const Catalog* catalog = nullptr;
  const Filter* filter = nullptr;          // null: none
  std::shared_ptr<const ItemSet> allowed;  // under the filter; null: every live item
  std::shared_ptr<const ItemSet> matches;  // of the query, whatever the filter; null: every live item
  std::shared_ptr<const ItemSet> curated;  // what rules let through, also without the filter; null: all
};

// In the order of `facets`. What the deadline leaves uncounted is missing, and said in `degraded`.
// INVALID_ARGUMENT: a histogram with too many intervals. Thread-safe.
absl::StatusOr<std::vector<FacetAnswer>> CountFacets(const std::vector<CheckedFacet>& facets,
                                                     const FacetBase& base, Deadline deadline,
                                                     std::vector<Degraded>* degraded);

}  // namespace waymark
