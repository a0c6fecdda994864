// What arms of a bandit have earned. Their shares follow what they earn, so plain means are biased; each unit
// counts by the inverse of the share that its arm had when it came.
#pragma once
#include <vector>

#include "experiment/outcomes/outcome_table.h"
#include "experiment/report/comparison.h"
#include "experiment/report/report.h"

namespace waymark {

// With N units of all arms and q_a = sum(y / p) / sum(1 / p) over those of arm a, unit i adds to arm a
//   z_ia = q_a + [i is of arm a] (y_i - q_a) / p_i,
// and the effect is the mean of z_t - z_c with its variance over all N: augmented inverse propensity
// weighting, whose confidence sequence holds where shares follow the outcomes so far (Waudby-Smith, Arbour,
// Sinha, Kennedy, Ramdas, arXiv 2103.06476v7, section 3; Howard, Ramdas, McAuliffe, Sekhon 2021). No relative
// lift. Not for RATIO and QUANTILE.
Comparison CompareWeighted(const OutcomeTable& table, size_t metric, double cap, size_t arm,
                           const TestSettings& settings);

// By arm; `shares`: as they are now, [arms]. Units count whose window is over at `now_us`.
std::vector<BanditResult> BanditArms(const OutcomeTable& table, const storage::ExperimentRecord& record,
                                     const std::vector<double>& shares, int64_t now_us);

// Successes and failures of units whose window is over, of the primary metric: what shares follow.
struct ArmCounts {
  std::vector<double> successes, units;  // [arms]
};
ArmCounts CountOutcomes(const OutcomeTable& table, int64_t now_us);

}  // namespace waymark
