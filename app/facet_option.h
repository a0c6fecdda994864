// What --facet takes, as the API's message.
//
//   FIELD                      its most frequent values
//   FIELD:20                   so many of them
//   FIELD:find=sci             those in which a word begins so
//   FIELD:disjunctive          as if the filter did not speak of it
//   FIELD:0..1980,1980..2000   ranges, the end not in them
//   FIELD:step=10              a histogram
// Parts after the colon are joined by commas.
#pragma once
#include <string>

#include "absl/status/statusor.h"
#include "waymark/v1/facet.pb.h"

namespace waymark {

// INVALID_ARGUMENT names the part that is not understood.
absl::StatusOr<v1::FacetRequest> ReadFacetOption(const std::string& text);

}  // namespace waymark
