#include "experiment/decisions/state_machine.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

using storage::ExperimentRecord;

// Clocks of one machine are corrected by so much without anything being wrong.
constexpr absl::Duration kClockTolerance = absl::Seconds(5);

absl::Status Refuse(const ExperimentRecord& record, Action action, std::string_view remedy) {
  return absl::FailedPreconditionError(
      absl::StrCat("experiment '", record.id(), "' is ", std::string(StateName(record.state())),
                   ", it cannot ", std::string(ActionName(action)), ": ", std::string(remedy)));
}

absl::Status CheckClock(const ExperimentRecord& record, absl::Time now) {
  const absl::Time last = absl::FromUnixMicros(record.state_time_us());
  if (now + kClockTolerance >= last) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("clock: it is ", absl::FormatTime(absl::RFC3339_sec, now, absl::UTCTimeZone()),
                   ", before the newest decision of experiment '", record.id(), "' at ",
                   absl::FormatTime(absl::RFC3339_sec, last, absl::UTCTimeZone()),
                   ": set the clock right, then decide again"));
}

absl::Status Ramp(ExperimentRecord& record, double asked) {
  const double coverage = asked == 0 ? NextCoverage(record) : asked;
  if (asked == 0 && coverage == 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "coverage: experiment '", record.id(), "' has all of the traffic: release a winner, or stop it"));
  }
  if (!(coverage > 0 && coverage <= 1)) {
    return absl::InvalidArgumentError(absl::StrCat("coverage is ", coverage, "; it lies in (0, 1]"));
  }
  if (coverage <= record.coverage()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "coverage is ", coverage, ", and ", record.coverage(),
        " is reached: a ramp only grows, so that nobody changes arms; stop the experiment to take it back"));
  }
  record.set_coverage(coverage);
  record.set_state(ExperimentRecord::RUNNING);
  return absl::OkStatus();
}

std::string ReleaseOf(const ExperimentRecord& record, const std::string& name) {
  for (const storage::ArmRecord& arm : record.arms()) {
    if (arm.name() == name) return arm.release_id();
  }
  return "";
}

absl::Status Release(ExperimentRecord& record, const std::string& winner) {
  for (const storage::ArmRecord& arm : record.arms()) {
    if (arm.name() != winner) continue;
    record.set_winner(winner);
    record.set_release_pending(true);
    record.set_state(ExperimentRecord::RELEASED);
    return absl::OkStatus();
  }
  std::string names;
  for (const auto& arm : record.arms()) absl::StrAppend(&names, names.empty() ? "'" : ", '", arm.name(), "'");
  return absl::InvalidArgumentError(
      absl::StrCat("winner '", winner, "' is no arm of experiment '", record.id(), "'; there are ", names));
}

absl::Status StartShadow(ExperimentRecord& record) {
  for (int i = 1; i < record.arms_size(); ++i) {
    if (!record.arms(i).release_id().empty()) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("arms[", i, "]: '", record.arms(i).name(),
                     "' has no release that could score copies of the traffic: start without the shadow"));
  }
  record.set_state(ExperimentRecord::SHADOW);
  return absl::OkStatus();
}

}  // namespace

std::string_view ActionName(Action action) {
  switch (action) {
    case Action::kStart:
      return "start";
    case Action::kStartShadow:
      return "start in the shadow";
    case Action::kRamp:
      return "ramp";
    case Action::kRelease:
      return "release";
    case Action::kRollBack:
      return "roll back";
    case Action::kEnd:
      return "end";
  }
  return "";
}

std::string_view StateName(ExperimentRecord::State state) {
  switch (state) {
    case ExperimentRecord::DRAFT:
      return "a draft";
    case ExperimentRecord::SHADOW:
      return "in the shadow";
    case ExperimentRecord::RUNNING:
      return "running";
    case ExperimentRecord::RELEASED:
      return "released";
    case ExperimentRecord::ROLLED_BACK:
      return "rolled back";
    default:
      return "stopped";
  }
}

std::optional<std::string> ReleaseToActivate(const ExperimentRecord& record, const std::string& active) {
  if (!record.release_pending()) return std::nullopt;
  const std::string won = ReleaseOf(record, record.winner());
  const bool back = record.state() == ExperimentRecord::ROLLED_BACK;
  const std::string& wanted = back ? record.arms(0).release_id() : won;
  if (wanted.empty() || wanted == active || (back && active != won)) return std::nullopt;
  return wanted;
}

std::optional<SlotVariantId> SlotVariantToActivate(const ExperimentRecord& record,
                                                   const std::string& active) {
  if (!record.release_pending()) return std::nullopt;
  const bool back = record.state() == ExperimentRecord::ROLLED_BACK;
  std::optional<SlotVariantId> won;
  for (const storage::ArmRecord& arm : record.arms()) {
    if (arm.name() == record.winner()) won = ParseSlotVariantName(arm.slot_variant());
  }
  if (back && (!won || won->variant != active)) return std::nullopt;
  const auto wanted = back ? ParseSlotVariantName(record.arms(0).slot_variant()) : won;
  if (!wanted || wanted->variant == active) return std::nullopt;
  return wanted;
}

bool IsLive(ExperimentRecord::State state) {
  return state == ExperimentRecord::SHADOW || state == ExperimentRecord::RUNNING;
}

double NextCoverage(const ExperimentRecord& record) {
  for (const double coverage : record.ramp()) {
    if (coverage > record.coverage()) return coverage;
  }
  return 0;
}

absl::StatusOr<ExperimentRecord> Apply(const ExperimentRecord& record, const Move& move, absl::Time now) {
  // Taking back is never delayed, whatever the clock says.
  const bool ends = move.action == Action::kRollBack || move.action == Action::kEnd;
  if (!ends) {
    if (absl::Status status = CheckClock(record, now); !status.ok()) return status;
  }
  ExperimentRecord after = record;
  const bool start = move.action == Action::kStart || move.action == Action::kStartShadow;
  if (start && record.state() != ExperimentRecord::DRAFT) {
    return Refuse(record, move.action, "only a draft starts; create another one");
  }
  const bool takes_back = move.action == Action::kRollBack && record.state() == ExperimentRecord::RELEASED;
  if (!start && !takes_back && !IsLive(record.state())) {
    return Refuse(
        record, move.action,
        record.state() == ExperimentRecord::DRAFT ? "start it first" : "it has ended; create another one");
  }
  absl::Status status;
  switch (move.action) {
    case Action::kStart:
      after.set_start_time_us(absl::ToUnixMicros(now));
      status = Ramp(after, 0);
      break;
    case Action::kStartShadow:
      after.set_start_time_us(absl::ToUnixMicros(now));
      status = StartShadow(after);
      break;
    case Action::kRamp:
      status = Ramp(after, move.coverage);
      break;
    case Action::kRelease:
      status = record.state() == ExperimentRecord::RUNNING
                   ? Release(after, move.winner)
                   : Refuse(record, move.action, "ramp it first: nobody has seen its arms yet");
      break;
    case Action::kRollBack:
      after.set_release_pending(takes_back);
      after.set_state(ExperimentRecord::ROLLED_BACK);
      break;
    case Action::kEnd:
      after.set_state(ExperimentRecord::STOPPED);
      break;
  }
  if (!status.ok()) return status;
  after.set_state_time_us(std::max(record.state_time_us(), absl::ToUnixMicros(now)));
  return after;
}

}  // namespace waymark
