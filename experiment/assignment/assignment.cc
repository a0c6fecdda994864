#include "experiment/assignment/assignment.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

using enum AssignmentReason;

constexpr double kSameWeight = 1e-9;

std::string Key(std::string_view prefix, std::string_view id) {
  if (id.empty()) return {};
  std::string key;
  key.reserve(prefix.size() + id.size());
  return key.append(prefix).append(id);
}

std::string_view IdOf(const std::string& key) { return std::string_view(key).substr(2); }

bool EqualWeights(const ExperimentPlan& experiment) {
  const double weight = experiment.arms.empty() ? 0 : experiment.arms[0].weight;
  return std::all_of(experiment.arms.begin(), experiment.arms.end(),
                     [&](const ArmPlan& arm) { return std::abs(arm.weight - weight) < kSameWeight; });
}

std::optional<int> ArmByName(const ExperimentPlan& experiment, const std::string& name) {
  for (size_t i = 0; i < experiment.arms.size(); ++i) {
    if (experiment.arms[i].name == name) return static_cast<int>(i);
  }
  return std::nullopt;
}

// What a tester asks for: in the request, or by the experiment's own list.
std::optional<int> ForcedArm(const ExperimentPlan& experiment, const AssignmentRequest& request,
                             const std::string& key) {
  if (request.overrides != nullptr) {
    const auto asked = request.overrides->find(experiment.id);
    if (asked != request.overrides->end()) {
      if (auto arm = ArmByName(experiment, asked->second)) return arm;
    }
  }
  if (key.empty()) return std::nullopt;
  const auto listed = experiment.forced.find(std::string(IdOf(key)));
  if (listed == experiment.forced.end()) return std::nullopt;
  return listed->second;
}

// Why a unit that is new to the experiment must not be taken in; kHashed: it may.
AssignmentReason Gate(const AssignmentPlan& plan, const ExperimentPlan& experiment,
                      const AssignmentRequest& request, std::string_view unit) {
  static const google::protobuf::Struct nothing;
  constexpr HashVersion kOwn = HashVersion::kGrowthBookV2;
  if (experiment.closed) return kClosed;
  if (plan.holdout > 0 && HashUnit(kOwn, plan.holdout_salt, unit) < plan.holdout) return kHeldOut;
  if (experiment.targeting != nullptr && !experiment.targeting->everybody() &&
      !experiment.targeting->Matches(request.context != nullptr ? *request.context : nothing)) {
    return kNotTargeted;
  }
  if (experiment.layer != nullptr) {
    const LayerPlan& layer = *experiment.layer;
    if (layer.holdout > 0 && HashUnit(kOwn, absl::StrCat("layer-holdout:", layer.id), unit) < layer.holdout) {
      return kHeldOut;
    }
    const double place = HashUnit(kOwn, absl::StrCat("layer:", layer.id), unit);
    if (place < experiment.slot.begin || place >= experiment.slot.end) return kOtherSlot;
  }
  return kHashed;
}

}  // namespace

std::string_view ReasonName(AssignmentReason reason) {
  switch (reason) {
    case kHashed:
      return "hashed";
    case kSticky:
      return "enrolled";
    case kAdopted:
      return "adopted";
    case kForced:
      return "forced";
    case kDecided:
      return "decided";
    case kNoUnit:
      return "no unit";
    case kHeldOut:
      return "held out";
    case kNotTargeted:
      return "not targeted";
    case kOtherSlot:
      return "another slot of the layer";
    case kNotCovered:
      return "not covered";
    case kClosed:
      return "closed";
  }
  return "";
}

std::string UnitKey(UnitKind kind, const AssignmentRequest& request) {
  switch (kind) {
    case UnitKind::kUser:
      return request.user_id.empty() ? Key("v:", request.visitor_id) : Key("u:", request.user_id);
    case UnitKind::kVisitor:
      return Key("v:", request.visitor_id);
    case UnitKind::kSession:
      return Key("s:", request.session_id);
    case UnitKind::kRequest:
      return Key("r:", request.request_id);
  }
  return {};
}

std::optional<int> HashedArm(const ExperimentPlan& experiment, std::string_view unit_id) {
  if (experiment.moving_weights && experiment.hash_version != HashVersion::kPlanOut &&
      experiment.coverage < 1 &&
      HashUnit(HashVersion::kGrowthBookV2, absl::StrCat(experiment.salt, ".coverage"), unit_id) >=
          experiment.coverage) {
    return std::nullopt;
  }
  if (experiment.hash_version != HashVersion::kPlanOut) {
    return ArmOf(experiment.ranges, HashUnit(experiment.hash_version, experiment.salt, unit_id));
  }
  // PlanOut draws who takes part and which arm by two hashes; equal weights are its UniformChoice.
  if (experiment.coverage < 1 &&
      HashUnit(HashVersion::kPlanOut, experiment.salt + ".coverage", unit_id) >= experiment.coverage) {
    return std::nullopt;
  }
  if (EqualWeights(experiment)) {
    return static_cast<int>(PlanOutChoice(experiment.salt, unit_id, experiment.arms.size()));
  }
  std::vector<double> weights;
  for (const ArmPlan& arm : experiment.arms) weights.push_back(arm.weight);
  return ArmOf(ArmRanges(weights, 1), HashUnit(HashVersion::kPlanOut, experiment.salt, unit_id));
}

AssignedArm AssignOne(const AssignmentPlan& plan, const ExperimentPlan& experiment,
                      const AssignmentRequest& request, EnrolledArm enrolled) {
  AssignedArm assigned{.experiment = &experiment, .unit = UnitKey(experiment.unit, request)};
  const auto give = [&](int arm, AssignmentReason reason) {
    assigned.arm = arm;
    assigned.reason = reason;
    assigned.propensity = assigned.Counts() ? experiment.arms[static_cast<size_t>(arm)].weight : 0;
    return assigned;
  };
  if (auto arm = ForcedArm(experiment, request, assigned.unit)) return give(*arm, kForced);
  if (experiment.decided_arm >= 0) return give(experiment.decided_arm, kDecided);
  if (assigned.unit.empty()) return assigned;
  if (experiment.interleaved) {
    assigned.reason = Gate(plan, experiment, request, IdOf(assigned.unit));
    if (assigned.reason != kHashed) return assigned;
    if (HashedArm(experiment, IdOf(assigned.unit))) {
      assigned.arm = 0;
      assigned.propensity = 1;
    } else {
      assigned.reason = kNotCovered;
    }
    return assigned;
  }
  const auto own = enrolled(experiment, assigned.unit);
  if (experiment.unit == UnitKind::kUser && !request.user_id.empty() && !request.visitor_id.empty()) {
    std::string visitor = Key("v:", request.visitor_id);
    const auto arm = enrolled(experiment, visitor);
    if (arm && !own) {
      assigned.adopted_from = std::move(visitor);
      return give(*arm, kAdopted);
    }
    if (arm) (*arm == *own ? assigned.same_as : assigned.conflicts_with) = std::move(visitor);
  }
  if (own) return give(*own, kSticky);
  const std::string_view id = IdOf(assigned.unit);
  assigned.reason = Gate(plan, experiment, request, id);
  if (assigned.reason != kHashed) return assigned;
  if (auto arm = HashedArm(experiment, id)) return give(*arm, kHashed);
  assigned.reason = kNotCovered;
  return assigned;
}

std::vector<AssignedArm> Assign(const AssignmentPlan& plan, const AssignmentRequest& request,
                                EnrolledArm enrolled) {
  std::vector<AssignedArm> arms;
  arms.reserve(plan.experiments.size());
  for (const auto& experiment : plan.experiments) {
    arms.push_back(AssignOne(plan, *experiment, request, enrolled));
  }
  return arms;
}

}  // namespace waymark
