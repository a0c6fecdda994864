// Looks that were planned before the start, with the error spent over them: narrower than intervals that hold
// at every look, for experiments whose winner is decided at these looks and at no other.
//
//   if (PlannedLookIsDue(record, looks, units)) AddPlannedLook(record, comparisons, units, now, &looks);
//   auto results = JudgePlannedLooks(record, looks);
#pragma once
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "experiment/report/report.h"
#include "waymark/storage/experiments.pb.h"

namespace waymark {

// The k-th of K looks is due when the window of the primary metric is over for k/K of the planned units, of
// all arms together: what a unit counts at one look is what it counts at every later one. Of looks that were
// missed (the units came at once, or nobody was there to look) the newest alone is taken.
bool PlannedLookIsDue(const storage::ExperimentRecord& record, const storage::LooksRecord& looks,
                      int64_t units);

// `comparisons` of the primary metric over those units, of every treatment in the order of arms. Nothing
// while one of them has no figures: the look is still due.
void AddPlannedLook(const storage::ExperimentRecord& record, const std::vector<Comparison>& comparisons,
                    int64_t units, absl::Time now, storage::LooksRecord* looks);

// Every look that was taken, for every treatment. The boundary follows from the shares at which looks were
// really taken (Lan, DeMets 1983); treatments share alpha (Bonferroni). INVALID_ARGUMENT: shares that do not
// grow, as only a damaged record has them.
absl::StatusOr<std::vector<PlannedLookResult>> JudgePlannedLooks(const storage::ExperimentRecord& record,
                                                                 const storage::LooksRecord& looks);

// The treatment that has crossed a boundary for the better and differs most where it did; empty: none.
std::string PlannedWinner(const std::vector<PlannedLookResult>& results, bool lower_is_better);
// Whether every treatment has crossed one for the worse. arms: with the control.
bool PlannedAllWorse(const std::vector<PlannedLookResult>& results, bool lower_is_better, int arms);

}  // namespace waymark
