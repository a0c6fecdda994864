#include "experiment/decisions/experiment_check.h"

#include <google/protobuf/util/message_differencer.h>

#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "catalog/targeting.h"
#include "experiment/decisions/state_machine.h"
#include "experiment/outcomes/metric_plan.h"

namespace waymark {
namespace {

using storage::ExperimentRecord;
using storage::GuardrailRecord;

constexpr double kSameSum = 1e-6;
constexpr int64_t kSecondUs = 1000 * 1000, kWeekUs = int64_t{7} * 24 * 3600 * kSecondUs;
constexpr int kMostPlannedLooks = 50;
constexpr int64_t kFewestUnitsALook = 30;
constexpr double kDefaultRamp[] = {.01, .05, .1, .25, .5, 1};

absl::Status Invalid(const std::string& what) { return absl::InvalidArgumentError(what); }

// All arms are releases, or all are variants of one slot.
absl::Status CheckSlotArms(const ExperimentRecord& record, const Surroundings& around) {
  std::string slot;
  for (int i = 0; i < record.arms_size(); ++i) {
    const storage::ArmRecord& arm = record.arms(i);
    const std::string field = absl::StrCat("arms[", i, "]");
    if (arm.slot_variant().empty() != record.arms(0).slot_variant().empty()) {
      return Invalid(
          absl::StrCat(field, arm.slot_variant().empty() ? " is a release" : " is a slot's variant",
                       ", and arms[0] is not; arms are all releases, or all variants of one slot"));
    }
    if (arm.slot_variant().empty()) continue;
    const auto id = ParseSlotVariantName(arm.slot_variant());
    if (!id) {
      return Invalid(absl::StrCat(field, ".slot_variant is '", arm.slot_variant(),
                                  "'; it takes slots/{slot}/variants/{variant}"));
    }
    if (slot.empty()) slot = id->slot;
    if (id->slot != slot) {
      return Invalid(absl::StrCat(field, ".slot_variant is of slot '", id->slot, "', and arms[0] of '", slot,
                                  "'; an experiment is about one slot"));
    }
    if (!around.is_slot_variant(*id)) {
      return absl::FailedPreconditionError(absl::StrCat(field, ".slot_variant '", arm.slot_variant(),
                                                        "' does not exist: put it first (waymark slot put)"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckArms(const ExperimentRecord& record, const Surroundings& around) {
  if (record.arms_size() < 2 || record.arms_size() > kMostArms) {
    return Invalid(
        absl::StrCat("arms: there are ", record.arms_size(), "; an experiment has 2 to ", kMostArms));
  }
  double sum = 0;
  std::set<std::string> names;
  for (int i = 0; i < record.arms_size(); ++i) {
    const storage::ArmRecord& arm = record.arms(i);
    const std::string field = absl::StrCat("arms[", i, "]");
    if (arm.name().empty() || !names.insert(arm.name()).second) {
      return Invalid(absl::StrCat(field, ".name is '", arm.name(), "'; each arm has a name of its own"));
    }
    if (!(arm.weight() > 0) || !std::isfinite(arm.weight())) {
      return Invalid(absl::StrCat(field, ".weight is ", arm.weight(), "; it must be over 0"));
    }
    sum += arm.weight();
    if (arm.release_id().empty() == arm.slot_variant().empty()) {
      return Invalid(absl::StrCat(field,
                                  arm.release_id().empty() ? " names neither a release nor a slot's variant"
                                                           : " names both a release and a slot's variant",
                                  "; it takes one of them"));
    }
    if (!arm.release_id().empty() && !around.is_release(arm.release_id())) {
      return absl::FailedPreconditionError(absl::StrCat(
          field, ".release '", arm.release_id(), "' is no release: make it first (waymark release create)"));
    }
  }
  if (absl::Status status = CheckSlotArms(record, around); !status.ok()) return status;
  if (std::abs(sum - 1) > kSameSum) {
    return Invalid(absl::StrCat("arms: the weights add up to ", sum, "; they must add up to 1"));
  }
  for (const auto& [unit, arm] : record.forced()) {
    if (!names.contains(arm))
      return Invalid(absl::StrCat("forced['", unit, "'] is '", arm, "', which is no arm"));
  }
  return absl::OkStatus();
}

absl::Status CheckSlot(const ExperimentRecord& record, const Surroundings& around) {
  if (record.layer().empty()) {
    if (record.slot_begin() == 0 && record.slot_end() == 0) return absl::OkStatus();
    return Invalid(
        absl::StrCat("slot [", record.slot_begin(), ", ", record.slot_end(),
                     ") is a part of a layer, and no layer is named: name it, or leave the slot out"));
  }
  if (record.hash_version() == ExperimentRecord::GROWTHBOOK_V1) {
    return Invalid(
        "hash_version: GROWTHBOOK_V1 correlates the experiments of a layer and is refused there; take "
        "GROWTHBOOK_V2 "
        "or PLANOUT");
  }
  const bool known = std::any_of(around.layers.begin(), around.layers.end(),
                                 [&](const auto& layer) { return layer.id() == record.layer(); });
  if (!known)
    return absl::NotFoundError(absl::StrCat("layer '", record.layer(), "' does not exist: make it first"));
  if (!(record.slot_begin() >= 0 && record.slot_begin() < record.slot_end() && record.slot_end() <= 1)) {
    return Invalid(absl::StrCat("slot [", record.slot_begin(), ", ", record.slot_end(),
                                ") is no part of a layer; it takes 0 <= slot_begin < slot_end <= 1"));
  }
  for (const ExperimentRecord& other : around.experiments) {
    if (other.id() == record.id() || other.layer() != record.layer()) continue;
    if (!HoldsSlot(other)) continue;
    if (other.unit() != record.unit()) {
      return Invalid(absl::StrCat("unit: experiment '", other.id(), "' of layer '", record.layer(),
                                  "' draws another kind of unit; experiments of a layer draw the same"));
    }
    if (record.slot_begin() < other.slot_end() && other.slot_begin() < record.slot_end()) {
      return Invalid(absl::StrCat("slot [", record.slot_begin(), ", ", record.slot_end(), ") overlaps [",
                                  other.slot_begin(), ", ", other.slot_end(), ") of experiment '", other.id(),
                                  "' in layer '", record.layer(), "': choose a free part"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRamp(const ExperimentRecord& record) {
  double last = 0;
  for (int i = 0; i < record.ramp_size(); ++i) {
    if (!(record.ramp(i) > last && record.ramp(i) <= 1)) {
      return Invalid(absl::StrCat("ramp[", i, "] is ", record.ramp(i), " after ", last,
                                  "; the steps of a ramp grow, up to 1"));
    }
    last = record.ramp(i);
  }
  if (last != 1) return Invalid(absl::StrCat("ramp: it ends at ", last, "; its last step is 1"));
  return absl::OkStatus();
}

// What an interleaved list or a bandit has no use for.
absl::Status CheckUnused(const ExperimentRecord& record) {
  if (record.unit() == ExperimentRecord::REQUEST && record.lookback_us() > 0) {
    return Invalid("lookback: a request has no past; leave it out, or draw users, visitors or sessions");
  }
  if (record.mode() == ExperimentRecord::SPLIT) return absl::OkStatus();
  const std::string mode = ExperimentRecord::Mode_Name(record.mode());
  if (record.lookback_us() > 0) {
    return Invalid(absl::StrCat("lookback is for the mode SPLIT alone: ", mode,
                                " adjusts by no covariate; leave it out"));
  }
  if (!record.segment_by().empty()) {
    return Invalid(
        absl::StrCat("segment_by is for the mode SPLIT alone: ", mode, " reports no segments; leave it out"));
  }
  if (record.mode() != ExperimentRecord::INTERLEAVED) return absl::OkStatus();
  if (record.metrics_size() > 1) {
    return Invalid(
        absl::StrCat("metrics: there are ", record.metrics_size(),
                     "; lists of the mode INTERLEAVED are the work of all arms, whose clicks alone are "
                     "credited: name one, whose events are the clicks"));
  }
  for (const storage::MetricRecord& metric : record.metrics()) {
    const bool counts =
        metric.kind() == storage::MetricRecord::MEAN || metric.kind() == storage::MetricRecord::PROPORTION;
    const bool plain = metric.events().value() == storage::MetricRecord::Events::COUNT && metric.cap() == 0 &&
                       metric.cap_quantile() == 0;
    if (counts && plain) continue;
    return Invalid(
        absl::StrCat("metrics: '", metric.name(),
                     "' sums or divides values; the mode INTERLEAVED credits the arm of each item that "
                     "an event names: take MEAN or PROPORTION of a count, without a cap"));
  }
  return absl::OkStatus();
}

absl::Status CheckMode(const ExperimentRecord& record) {
  if (absl::Status status = CheckUnused(record); !status.ok()) return status;
  if (record.mode() != ExperimentRecord::BANDIT &&
      (record.bandit_floor() != 0 || record.bandit_update_us() != 0)) {
    return Invalid("bandit_floor and bandit_update are for the mode BANDIT alone; leave them out");
  }
  if (record.mode() == ExperimentRecord::INTERLEAVED) {
    if (record.arms(0).release_id().empty()) {
      return Invalid("arms: variants of a slot make no list; the mode INTERLEAVED takes releases");
    }
    for (const storage::ArmRecord& arm : record.arms()) {
      if (std::abs(arm.weight() - record.arms(0).weight()) <= kSameSum) continue;
      return Invalid("arms: chance says which arm picks first, so the mode INTERLEAVED takes equal weights");
    }
    if (!record.guardrails().empty()) {
      return Invalid(
          "guardrails: an interleaved list is the work of all arms, so what the server measures says "
          "nothing of "
          "one; leave them out, and measure the arms in the shadow or in a split");
    }
  }
  if (record.mode() != ExperimentRecord::BANDIT) return absl::OkStatus();
  if (!(record.bandit_floor() > 0 && record.bandit_floor() * record.arms_size() <= 1)) {
    return Invalid(absl::StrCat("bandit_floor is ", record.bandit_floor(),
                                "; it takes over 0 up to 1 / arms, ", 1.0 / std::max(1, record.arms_size())));
  }
  if (record.bandit_update_us() < kSecondUs) {
    return Invalid(
        absl::StrCat("bandit_update is ", record.bandit_update_us(), " us; it takes a second or more"));
  }
  for (const storage::MetricRecord& metric : record.metrics()) {
    if (metric.name() != record.primary_metric() || metric.kind() == storage::MetricRecord::PROPORTION)
      continue;
    return Invalid(absl::StrCat("primary_metric '", record.primary_metric(),
                                "' is no PROPORTION; a bandit learns from whether something happened"));
  }
  return absl::OkStatus();
}

absl::Status CheckPlannedLooks(const ExperimentRecord& record) {
  if (!record.has_planned_looks()) return absl::OkStatus();
  const ExperimentRecord::PlannedLooks& plan = record.planned_looks();
  if (record.mode() != ExperimentRecord::SPLIT) {
    return Invalid("planned_looks are for the mode SPLIT alone; leave them out");
  }
  if (plan.looks() < 1 || plan.looks() > kMostPlannedLooks) {
    return Invalid(
        absl::StrCat("planned_looks.looks is ", plan.looks(), "; it takes 1 to ", kMostPlannedLooks));
  }
  const int64_t least = kFewestUnitsALook * record.arms_size() * plan.looks();
  if (plan.units() < least) {
    return Invalid(absl::StrCat("planned_looks.units is ", plan.units(), "; ", plan.looks(), " looks at ",
                                record.arms_size(), " arms take at least ", least, ", ", kFewestUnitsALook,
                                " an arm and look"));
  }
  return absl::OkStatus();
}

absl::Status CheckNumbers(const ExperimentRecord& record) {
  if (!(record.alpha() > 0 && record.alpha() < .5)) {
    return Invalid(absl::StrCat("alpha is ", record.alpha(), "; it lies between 0 and .5"));
  }
  if (!(record.sequential_tuning() >= 10)) {
    return Invalid(
        absl::StrCat("sequential_tuning is ", record.sequential_tuning(), "; it takes 10 units or more"));
  }
  if (record.min_run_us() < kWeekUs || record.min_run_us() % kWeekUs != 0) {
    return Invalid(absl::StrCat("min_run_time is ",
                                absl::FormatDuration(absl::Microseconds(record.min_run_us())),
                                "; it takes whole weeks, since days of the week differ"));
  }
  if (record.min_exposures() < 1) {
    return Invalid(absl::StrCat("min_exposures is ", record.min_exposures(), "; it takes 1 or more"));
  }
  if (record.lookback_us() < 0) return Invalid("lookback is under 0; it takes a duration from 0 on");
  std::set<int> measures;
  for (int i = 0; i < record.guardrails_size(); ++i) {
    const GuardrailRecord& guardrail = record.guardrails(i);
    if (guardrail.measure() == GuardrailRecord::MEASURE_UNSPECIFIED ||
        !measures.insert(guardrail.measure()).second) {
      return Invalid(absl::StrCat("guardrails[", i, "].measure is not set, or there twice"));
    }
    if (!(guardrail.tolerance() >= 0) || !std::isfinite(guardrail.tolerance())) {
      return Invalid(
          absl::StrCat("guardrails[", i, "].tolerance is ", guardrail.tolerance(), "; it takes 0 or more"));
    }
  }
  return absl::OkStatus();
}

// What may change while it runs is made equal, so that the rest can be compared whole.
void TakeMutable(const ExperimentRecord& from, ExperimentRecord* to) {
  to->set_description(from.description());
  *to->mutable_forced() = from.forced();
  to->set_automatic_ramp(from.automatic_ramp());
  to->set_min_exposures(from.min_exposures());
  if (to->arms_size() != from.arms_size()) return;
  for (int i = 0; i < to->arms_size(); ++i) to->mutable_arms(i)->set_weight(from.arms(i).weight());
}

}  // namespace

void FillDefaults(ExperimentRecord* record) {
  if (record->salt().empty()) record->set_salt(record->id());
  if (record->ramp().empty())
    record->mutable_ramp()->Assign(std::begin(kDefaultRamp), std::end(kDefaultRamp));
  if (record->alpha() == 0) record->set_alpha(.05);
  if (record->sequential_tuning() == 0) record->set_sequential_tuning(5000);
  if (record->min_run_us() == 0) record->set_min_run_us(kWeekUs);
  if (record->min_exposures() == 0) record->set_min_exposures(100);
  if (record->mode() != ExperimentRecord::BANDIT) return;
  if (record->bandit_floor() == 0) record->set_bandit_floor(.01);
  if (record->bandit_update_us() == 0) record->set_bandit_update_us(60 * kSecondUs);
}

absl::Status CheckExperiment(const ExperimentRecord& record, const Surroundings& around) {
  const auto targeting = Targeting::Parse(
      record.targeting(), {record.targeting_fields().begin(), record.targeting_fields().end()});
  const auto metrics = PlanMetrics(record, *around.types);
  for (const absl::Status& status : {CheckArms(record, around), CheckSlot(record, around), CheckRamp(record),
                                     CheckNumbers(record), CheckMode(record), CheckPlannedLooks(record),
                                     targeting.status(), metrics.status(), PrimaryMetric(record).status()}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Arms own stretches of one hash, of which the coverage is the first part: other weights move them, and those
// who come back would fill the new part of one arm alone.
absl::Status CheckNewWeights(const ExperimentRecord& before, const ExperimentRecord& after) {
  bool same = before.arms_size() == after.arms_size();
  for (int i = 0; same && i < before.arms_size(); ++i) {
    same = before.arms(i).weight() == after.arms(i).weight();
  }
  if (same) return absl::OkStatus();
  if (before.mode() == ExperimentRecord::BANDIT) {
    return absl::FailedPreconditionError(
        "arms: the weights of a running BANDIT follow its outcomes, so others would do nothing; leave them "
        "as "
        "they are");
  }
  if (before.coverage() >= 1 || before.hash_version() == ExperimentRecord::PLANOUT) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "arms: other weights at a coverage of ", before.coverage(),
      " would give those who come back another split than those who are new, with this hash_version; ramp to "
      "100% first, or make an experiment with hash_version PLANOUT, which draws coverage apart"));
}

absl::Status CheckUpdate(const ExperimentRecord& before, const ExperimentRecord& after) {
  if (before.state() == ExperimentRecord::DRAFT) return absl::OkStatus();
  if (absl::Status status = CheckNewWeights(before, after); !status.ok()) return status;
  ExperimentRecord same = after;
  TakeMutable(before, &same);
  google::protobuf::util::MessageDifferencer differencer;
  std::string differences;
  differencer.ReportDifferencesToString(&differences);
  if (differencer.Compare(before, same)) return absl::OkStatus();
  if (const size_t line = differences.find('\n'); line != std::string::npos) differences.resize(line);
  return absl::FailedPreconditionError(absl::StrCat(
      "experiment '", before.id(), "' is ", std::string(StateName(before.state())),
      ", which has frozen this: ", differences,
      ". Description, weights, forced arms, min_exposures and automatic_ramp may change; for the rest, "
      "stop it and create another one"));
}

bool HoldsSlot(const ExperimentRecord& record) {
  return record.state() == ExperimentRecord::DRAFT || IsLive(record.state());
}

absl::Status CheckLayerIsFree(const std::string& id, const std::vector<ExperimentRecord>& experiments) {
  std::string held;
  for (const ExperimentRecord& experiment : experiments) {
    if (experiment.layer() != id || !HoldsSlot(experiment)) continue;
    absl::StrAppend(&held, held.empty() ? "'" : ", '", experiment.id(), "'");
  }
  if (held.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "layer '", id, "' holds experiments that have not ended: ", held, ". Stop or delete them first"));
}

absl::Status CheckLayer(const storage::LayerRecord& layer) {
  if (layer.holdout() >= 0 && layer.holdout() < 1) return absl::OkStatus();
  return Invalid(absl::StrCat("holdout is ", layer.holdout(), "; it lies in [0, 1)"));
}

}  // namespace waymark
