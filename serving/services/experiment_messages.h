// Experiments, decisions and reports between the API and their records. What the library checks itself
// (experiment/decisions/experiment_check.h) is not checked again here.
#pragma once
#include "absl/status/statusor.h"
#include "experiment/report/report.h"
#include "waymark/storage/experiments.pb.h"
#include "waymark/v1/experiment.pb.h"

namespace waymark {

v1::Experiment::State StateOf(storage::ExperimentRecord::State state);
v1::Experiment::Mode ModeOf(storage::ExperimentRecord::Mode mode);

// Output-only fields are passed over. INVALID_ARGUMENT names the field: enumerators that this version does
// not know, durations that are none.
absl::StatusOr<storage::ExperimentRecord> RecordOf(const v1::Experiment& experiment);
// Without decisions.
void ToMessage(const storage::ExperimentRecord& record, v1::Experiment* experiment);
void ToMessage(const storage::DecisionRecord& record, v1::Decision* decision);
// Without decisions.
void ToMessage(const ExperimentReport& report, v1::ExperimentReport* message);

}  // namespace waymark
