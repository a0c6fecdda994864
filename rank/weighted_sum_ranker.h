// The ranker for when none is released: a weighted sum of each signal's z-score within the list.
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
