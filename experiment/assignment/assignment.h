// Which arm of which experiment a request sees: a pure function of the request, the plan, and the arms that
// units have already been given.
//
//   auto arms = Assign(plan, {.user_id = "u1", .context = &context}, enrolled);
//   for (const AssignedArm& arm : arms) if (arm.arm >= 0) use(arm.release);
//
// Thread-safe: a plan does not change.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "catalog/targeting.h"
#include "experiment/assignment/buckets.h"
#include "experiment/assignment/unit_hash.h"

namespace waymark {

enum class UnitKind { kUser, kVisitor, kSession, kRequest };

// A part of a layer's units, so that experiments of one layer never share a unit.
struct LayerPlan {
  std::string id;
  double holdout = 0;  // share that no experiment of the layer may touch
};

struct ArmPlan {
  std::string name, release, slot_variant;
  double weight = 0;
};

struct ExperimentPlan {
  std::string id, salt;
  HashVersion hash_version = HashVersion::kGrowthBookV2;
  UnitKind unit = UnitKind::kUser;
  std::vector<ArmPlan> arms;  // the first is the control
  std::vector<BucketRange> ranges;
  double coverage = 0;
  std::shared_ptr<const LayerPlan> layer;  // null: none
  BucketRange slot;                        // of the layer
  std::shared_ptr<const Targeting> targeting;
  std::map<std::string, int> forced;  // unit id -> arm, of testers
  // Released to one arm: everybody sees it, nobody is enrolled any more.
  int decided_arm = -1;
  // No new unit is taken in; those that are in stay.
  bool closed = false;
  // Whoever is covered is shown both arms on one list; nobody is enrolled.
  bool interleaved = false;
  // Weights follow outcomes while it runs. Who is covered is then drawn by a hash of its own: with stretches
  // that move, the shares of who comes into them would not be the weights.
  bool moving_weights = false;
};

struct AssignmentPlan {
  std::vector<std::shared_ptr<const ExperimentPlan>> experiments;
  double holdout = 0;  // share of units that no experiment may touch
  std::string holdout_salt = "holdout";
};

enum class AssignmentReason {
  kHashed,
  kSticky,   // enrolled before
  kAdopted,  // by the visitor that this user was
  kForced,
  kDecided,
  kNoUnit,  // from here on: no arm
  kHeldOut,
  kNotTargeted,
  kOtherSlot,
  kNotCovered,
  kClosed,
};
std::string_view ReasonName(AssignmentReason reason);

struct AssignmentRequest {
  std::string_view user_id, visitor_id, session_id, request_id;
  const google::protobuf::Struct* context = nullptr;
  // Experiment -> arm, as a tester asks for this request alone. Unknown names are passed over.
  const std::map<std::string, std::string>* overrides = nullptr;
};

struct AssignedArm {
  const ExperimentPlan* experiment = nullptr;  // lives as long as the plan
  int arm = -1;
  AssignmentReason reason = AssignmentReason::kNoUnit;
  std::string unit;          // key: «u:», «v:», «s:» or «r:» and the id
  std::string adopted_from;  // the visitor's key
  // The visitor's key, when it is enrolled in another arm than its user: the person has seen both.
  std::string conflicts_with;
  std::string
      same_as;  // the visitor's key, when it is enrolled in this arm beside its user: they are one unit
  double propensity = 0;  // of this arm, for a unit that is enrolled

  // Whether the arm was drawn, so that the unit counts.
  bool Counts() const {
    return reason == AssignmentReason::kHashed || reason == AssignmentReason::kSticky ||
           reason == AssignmentReason::kAdopted;
  }
  // Both arms make the list.
  bool Interleaved() const { return experiment->interleaved && reason == AssignmentReason::kHashed; }
};

// The key of a unit; empty when the request has no such id. A user who is not known is the visitor.
std::string UnitKey(UnitKind kind, const AssignmentRequest& request);

// The arm that the unit has been given; none: not enrolled.
using EnrolledArm = absl::FunctionRef<std::optional<int>(const ExperimentPlan&, const std::string& unit)>;

// One entry for each experiment of the plan, in its order.
std::vector<AssignedArm> Assign(const AssignmentPlan& plan, const AssignmentRequest& request,
                                EnrolledArm enrolled);
AssignedArm AssignOne(const AssignmentPlan& plan, const ExperimentPlan& experiment,
                      const AssignmentRequest& request, EnrolledArm enrolled);

// The arm by hash alone; none: not covered.
std::optional<int> HashedArm(const ExperimentPlan& experiment, std::string_view unit_id);

}  // namespace waymark
