// Stages 2 and 3: what the later stages know of a request: who asks, what they did, what may be shown.
#pragma once
#include <memory>

#include "absl/status/statusor.h"
#include "candidates/request_context.h"
#include "catalog/catalog.h"
#include "pipeline/request.h"
#include "store/clock.h"
#include "store/store.h"

namespace waymark {

struct RequestState {
  RequestContext context;                // without user_vector
  std::shared_ptr<const Filter> filter;  // null: none
  std::vector<Degraded> degraded;        // ids of items that nobody has named, which are passed over
};

absl::StatusOr<RequestState> MakeRequestState(const Store& store, Scope scope, const Catalog& catalog,
                                              const Clock& clock, const PipelineRequest& request);

void SortUnique(std::vector<ItemOrdinal>* items);

}  // namespace waymark
