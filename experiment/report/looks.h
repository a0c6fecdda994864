// The primary metric as it stood at looks over time: what plots of intervals are drawn from. Looks lie the
// further apart the longer an experiment has run, so their number grows with the logarithm of its age.
#pragma once
#include <vector>

#include "absl/time/time.h"
#include "experiment/report/report.h"
#include "waymark/storage/experiments.pb.h"

namespace waymark {

// The newest look is 10 seconds old, and a hundredth of the experiment's age.
bool LookIsDue(const storage::LooksRecord& looks, const storage::ExperimentRecord& record, absl::Time now);

// `comparisons` of the primary metric, of every treatment in the order of arms. What has no figures adds
// none.
void AddLook(const std::vector<Comparison>& comparisons, absl::Time now, storage::LooksRecord* looks);

}  // namespace waymark
