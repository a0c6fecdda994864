// The ways of an experiment: draft -> shadow -> running at a growing coverage -> released, rolled back or
// stopped. A move is a function of values; whether its conditions hold is asked apart (conditions.h).
//
//   auto after = Apply(record, {.action = Action::kRamp, .coverage = .1}, now);
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "store/slot_name.h"
#include "waymark/storage/experiments.pb.h"

namespace waymark {

enum class Action { kStart, kStartShadow, kRamp, kRelease, kRollBack, kEnd };
std::string_view ActionName(Action action);
std::string_view StateName(storage::ExperimentRecord::State state);

struct Move {
  Action action = Action::kStart;
  double coverage = 0;  // of kRamp; 0: the next step
  std::string winner;   // of kRelease: the name of an arm
};

// Units are enrolled, or a copy of the traffic is scored.
bool IsLive(storage::ExperimentRecord::State state);

// The record as the move leaves it. FAILED_PRECONDITION: not from this state; INVALID_ARGUMENT: a ramp
// backwards or over 1, an unknown winner; FAILED_PRECONDITION: `now` is before the newest decision (a clock
// that jumped).
absl::StatusOr<storage::ExperimentRecord> Apply(const storage::ExperimentRecord& record, const Move& move,
                                                absl::Time now);

// What a decision leaves to be activated where `active` serves everybody: a winner's release; the control's,
// once that winner is rolled back. None: nothing, so also where somebody has released something else since.
std::optional<std::string> ReleaseToActivate(const storage::ExperimentRecord& record,
                                             const std::string& active);

// The same of an experiment on a content slot, that shows `active`.
std::optional<SlotVariantId> SlotVariantToActivate(const storage::ExperimentRecord& record,
                                                   const std::string& active);

// The next coverage of the ramp; 0: there is none.
double NextCoverage(const storage::ExperimentRecord& record);

}  // namespace waymark
