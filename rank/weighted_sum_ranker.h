// The ranker for when none is released: a weighted sum of each signal's z-score within the list. Signals that
// a candidate lacks add nothing.
//
//   auto ranker = MakeWeightedSumRanker({});                                    // the defaults
//   auto popular = MakeWeightedSumRanker({{"popularity_score", 1.0}});
//
// The defaults know two cases: without a query behaviour decides, with one the keyword score does, and
// behaviour breaks near-ties. Given weights hold for all requests.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "rank/ranker.h"

namespace waymark {

// Weights by signal name; empty: the defaults. INVALID_ARGUMENT names an unknown signal or a weight that is
// not finite.
absl::StatusOr<std::unique_ptr<Ranker>> MakeWeightedSumRanker(const std::map<std::string, double>& weights);

}  // namespace waymark
