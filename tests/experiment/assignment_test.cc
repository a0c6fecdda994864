#include "experiment/assignment/assignment.h"

#include <cmath>
#include <map>
#include <set>

#include "tests/support/catch.h"

namespace waymark {
namespace {

using enum AssignmentReason;

const auto kNobody = [](const ExperimentPlan&, const std::string&) { return std::optional<int>(); };

ExperimentPlan Plan(const std::string& id, double coverage, std::vector<double> weights = {.5, .5}) {
  ExperimentPlan plan;
  plan.id = plan.salt = id;
  plan.coverage = coverage;
  for (size_t i = 0; i < weights.size(); ++i) {
    plan.arms.push_back(
        {i == 0 ? "control" : "treatment-" + std::to_string(i), "r" + std::to_string(i), "", weights[i]});
  }
  plan.ranges = ArmRanges(weights, coverage);
  return plan;
}

AssignmentPlan With(std::vector<ExperimentPlan> experiments) {
  AssignmentPlan plan;
  for (auto& experiment : experiments) {
    plan.experiments.push_back(std::make_shared<const ExperimentPlan>(std::move(experiment)));
  }
  return plan;
}

TEST_CASE("Each arm covers the first part of its own stretch") {
  const auto ranges = ArmRanges({.5, .5}, .1);
  CHECK(ArmOf(ranges, 0) == 0);
  CHECK(ArmOf(ranges, .0499) == 0);
  CHECK_FALSE(ArmOf(ranges, .05).has_value());
  CHECK(ArmOf(ranges, .5) == 1);
  CHECK_FALSE(ArmOf(ranges, .55).has_value());
  CHECK(ArmOf(ArmRanges({.3, .7}, 1), .9999) == 1);
}

// A hundred thousand units who come back while half of them are covered and the weights move: who is new to
// the experiment sees the arms in the shares of that time.
TEST_CASE("Where weights move, who is covered and which arm are drawn apart") {
  for (const HashVersion version :
       {HashVersion::kGrowthBookV2, HashVersion::kGrowthBookV1, HashVersion::kPlanOut}) {
    ExperimentPlan before = Plan("moving", 1, {.4, .6}), after = Plan("moving", 1, {.2, .8});
    before.coverage = .3, after.coverage = .5;
    before.hash_version = after.hash_version = version;
    before.moving_weights = after.moving_weights = true;
    int enrolled = 0, lost = 0, later = 0, treated = 0;
    for (int unit = 0; unit < 100000; ++unit) {
      const auto first = HashedArm(before, std::to_string(unit));
      const auto second = HashedArm(after, std::to_string(unit));
      enrolled += first.has_value();
      lost += first && !second;
      if (first || !second) continue;
      ++later;
      treated += *second == 1;
    }
    CHECK(lost == 0);
    CHECK(std::abs(enrolled - 30000) < 3 * std::sqrt(100000 * .3 * .7));
    CHECK(std::abs(later - 20000) < 3 * std::sqrt(100000 * .2 * .8));
    CHECK(std::abs(treated - .8 * later) < 3 * std::sqrt(later * .8 * .2));
  }
}

TEST_CASE("A ramp from 1 to 100% takes units in and moves none") {
  for (const HashVersion version :
       {HashVersion::kGrowthBookV2, HashVersion::kGrowthBookV1, HashVersion::kPlanOut}) {
    for (const std::vector<double>& weights : {std::vector<double>{.5, .5}, {.2, .3, .5}}) {
      std::map<int, int> arm_of;
      size_t covered_before = 0;
      for (const double coverage : {.01, .05, .1, .25, .5, 1.0}) {
        ExperimentPlan plan = Plan("ramp", coverage, weights);
        plan.hash_version = version;
        for (int unit = 0; unit < 5000; ++unit) {
          const auto arm = HashedArm(plan, std::to_string(unit));
          if (arm_of.contains(unit)) REQUIRE(arm == arm_of[unit]);
          if (arm.has_value()) arm_of[unit] = *arm;
        }
        CHECK(arm_of.size() > covered_before);
        CHECK(std::abs(arm_of.size() / 5000.0 - coverage) < .02);
        covered_before = arm_of.size();
      }
      CHECK(covered_before == 5000);
    }
  }
}

TEST_CASE("Experiments of one layer never share a unit") {
  auto layer = std::make_shared<LayerPlan>(LayerPlan{"ranking", .1});
  ExperimentPlan one = Plan("one", 1), other = Plan("other", 1);
  one.layer = other.layer = layer;
  one.slot = {0, .5};
  other.slot = {.5, 1};
  const AssignmentPlan plan = With({one, other});
  int in_one = 0, in_other = 0, held_out = 0;
  for (int i = 0; i < 10000; ++i) {
    const std::string user = "user" + std::to_string(i);
    const auto arms = Assign(plan, {.user_id = user}, kNobody);
    REQUIRE_FALSE((arms[0].arm >= 0 && arms[1].arm >= 0));
    in_one += arms[0].arm >= 0;
    in_other += arms[1].arm >= 0;
    held_out += arms[0].reason == kHeldOut && arms[1].reason == kHeldOut;
  }
  CHECK(std::abs(in_one - 4500) < 200);
  CHECK(std::abs(in_other - 4500) < 200);
  CHECK(std::abs(held_out - 1000) < 120);
}

TEST_CASE("The global holdout sees no experiment at all") {
  AssignmentPlan plan = With({Plan("one", 1), Plan("other", 1)});
  plan.holdout = .05;
  int held = 0;
  for (int i = 0; i < 10000; ++i) {
    const auto arms = Assign(plan, {.user_id = std::to_string(i)}, kNobody);
    REQUIRE((arms[0].reason == kHeldOut) == (arms[1].reason == kHeldOut));
    held += arms[0].reason == kHeldOut;
  }
  CHECK(std::abs(held - 500) < 90);
}

TEST_CASE("A unit that is enrolled keeps its arm whatever the weights and the targeting become") {
  ExperimentPlan changed = Plan("weights", 0, {.01, .99});
  changed.targeting = std::make_shared<const Targeting>(*Targeting::Parse("country = \"DE\"", {}));
  changed.closed = true;
  const AssignmentPlan plan = With({changed});
  const auto enrolled = [](const ExperimentPlan&, const std::string& unit) {
    return unit == "u:ann" ? std::optional<int>(0) : std::nullopt;
  };
  const auto arm = Assign(plan, {.user_id = "ann"}, enrolled)[0];
  CHECK(arm.arm == 0);
  CHECK(arm.reason == kSticky);
  CHECK(Assign(plan, {.user_id = "bob"}, enrolled)[0].reason == kClosed);
}

TEST_CASE("A visitor who turns out to be a user keeps the arm; a user's own arm goes first") {
  const AssignmentPlan plan = With({Plan("merge", 1)});
  const auto visitor_only = [](const ExperimentPlan&, const std::string& unit) {
    return unit == "v:cookie" ? std::optional<int>(1) : std::nullopt;
  };
  const auto adopted = Assign(plan, {.user_id = "ann", .visitor_id = "cookie"}, visitor_only)[0];
  CHECK(adopted.arm == 1);
  CHECK(adopted.reason == kAdopted);
  CHECK(adopted.unit == "u:ann");
  CHECK(adopted.adopted_from == "v:cookie");
  const auto both = [](const ExperimentPlan&, const std::string& unit) {
    return std::optional<int>(unit == "v:cookie" ? 1 : 0);
  };
  CHECK(Assign(plan, {.user_id = "ann", .visitor_id = "cookie"}, both)[0].arm == 0);
  CHECK(Assign(plan, {.visitor_id = "cookie"}, both)[0].arm == 1);
}

TEST_CASE("Testers see the arm they ask for and are not counted") {
  ExperimentPlan plan = Plan("forced", 0);
  plan.forced["tester"] = 1;
  const AssignmentPlan all = With({plan});
  const auto listed = Assign(all, {.user_id = "tester"}, kNobody)[0];
  CHECK(listed.arm == 1);
  CHECK(listed.reason == kForced);
  CHECK_FALSE(listed.Counts());
  const std::map<std::string, std::string> overrides{{"forced", "treatment-1"}, {"other", "x"}};
  CHECK(Assign(all, {.user_id = "ann", .overrides = &overrides}, kNobody)[0].arm == 1);
  CHECK(Assign(all, {.user_id = "ann"}, kNobody)[0].reason == kNotCovered);
}

TEST_CASE("Each kind of unit is drawn by its own id, and without it there is no arm") {
  for (const auto& [kind, key] : std::map<UnitKind, std::string>{{UnitKind::kUser, "u:1"},
                                                                 {UnitKind::kVisitor, "v:2"},
                                                                 {UnitKind::kSession, "s:3"},
                                                                 {UnitKind::kRequest, "r:4"}}) {
    ExperimentPlan experiment = Plan("unit", 1);
    experiment.unit = kind;
    const AssignmentPlan plan = With({experiment});
    const AssignmentRequest all{.user_id = "1", .visitor_id = "2", .session_id = "3", .request_id = "4"};
    CHECK(Assign(plan, all, kNobody)[0].unit == key);
    CHECK(Assign(plan, {}, kNobody)[0].reason == kNoUnit);
  }
  CHECK(UnitKey(UnitKind::kUser, {.visitor_id = "2"}) == "v:2");
}

TEST_CASE("A decided experiment serves its winner to everybody and draws nobody") {
  ExperimentPlan experiment = Plan("decided", .1);
  experiment.decided_arm = 1;
  const auto arm = Assign(With({experiment}), {}, kNobody)[0];
  CHECK(arm.arm == 1);
  CHECK_FALSE(arm.Counts());
}

}  // namespace
}  // namespace waymark
