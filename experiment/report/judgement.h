// What the figures of a report amount to: whether an arm has won, and the verdict that stands above them.
#pragma once
#include "experiment/report/report.h"

namespace waymark {

// The winner by the primary metric, or that there will be none, and the numbers that say so: evidence.winner,
// all_worse and primary, and planned_looks. The comparisons must be there.
void JudgePrimary(const ReportInput& input, ExperimentReport* report);

// Of a report that is otherwise complete.
Verdict Judge(const ExperimentReport& report);

}  // namespace waymark
