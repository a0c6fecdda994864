// How sources are merged: which take part, how deep, with what weight. Part of a release; pure values.
#pragma once
#include <string>

#include "absl/status/status.h"
#include "candidates/candidate.h"
#include "waymark/storage/models.pb.h"

namespace waymark {

// The plan of a release that names none, and of serving without a release.
storage::BlendingPlan DefaultBlendingPlan();

// Fills zero limits from the default plan. INVALID_ARGUMENT names unknown sources, limits outside 1..2000 and
// weights that are negative or not finite.
absl::Status CompletePlan(storage::BlendingPlan* plan);

// SHA-256 over the plan's deterministic serialisation.
std::string PlanSha256(const storage::BlendingPlan& plan);

inline constexpr int kMaxCandidates = 2000;

}  // namespace waymark
