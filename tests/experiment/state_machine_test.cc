#include "experiment/decisions/state_machine.h"

#include "experiment/decisions/conditions.h"
#include "tests/experiment/fixture.h"

namespace waymark::tests {
namespace {

using storage::ExperimentRecord;

ExperimentRecord InState(ExperimentRecord::State state, double coverage) {
  ExperimentRecord record = SmallExperiment("e");
  record.clear_ramp();
  for (const double step : {.01, .05, .1, .25, .5, 1.0}) record.add_ramp(step);
  record.set_state(state);
  record.set_coverage(coverage);
  record.set_min_run_us(7 * kDayUs);
  record.set_alpha(.05);
  return record;
}

Evidence Enough() {
  return {.units = {1000, 1000}, .units_since_step = {1000, 1000}, .days_with_exposures = 7, .winner = "new"};
}

}  // namespace

TEST_CASE("From each state, just these moves lead on") {
  const std::map<ExperimentRecord::State, std::string> allowed{
      {ExperimentRecord::DRAFT, "11...."},       {ExperimentRecord::SHADOW, "..1.11"},
      {ExperimentRecord::RUNNING, "..1111"},     {ExperimentRecord::RELEASED, "....1."},
      {ExperimentRecord::ROLLED_BACK, "......"}, {ExperimentRecord::STOPPED, "......"}};
  for (const auto& [state, moves] : allowed) {
    for (int action = 0; action < 6; ++action) {
      const Move move{.action = static_cast<Action>(action), .winner = "new"};
      const auto after = Apply(InState(state, .05), move, kNow);
      INFO(StateName(state) << " " << ActionName(move.action) << " " << after.status().ToString());
      CHECK(after.ok() == (moves[static_cast<size_t>(action)] == '1'));
    }
  }
}

TEST_CASE("A ramp goes through all steps to 100%") {
  auto record = InState(ExperimentRecord::DRAFT, 0);
  record = *Apply(record, {.action = Action::kStartShadow}, kNow);
  CHECK(record.state() == ExperimentRecord::SHADOW);
  CHECK(record.coverage() == 0);
  for (const double expected : {.01, .05, .1, .25, .5, 1.0}) {
    record = *Apply(record, {.action = Action::kRamp}, kNow);
    CHECK(record.state() == ExperimentRecord::RUNNING);
    CHECK(record.coverage() == expected);
  }
  CHECK(absl::IsFailedPrecondition(Apply(record, {.action = Action::kRamp}, kNow).status()));
  CHECK(absl::IsInvalidArgument(Apply(record, {.action = Action::kRamp, .coverage = 2}, kNow).status()));
  CHECK(
      absl::IsInvalidArgument(Apply(record, {.action = Action::kRelease, .winner = "none"}, kNow).status()));
}

TEST_CASE("Conditions name what is missing, and a roll-back has none") {
  const absl::Time now = kNow;
  auto record = InState(ExperimentRecord::RUNNING, .1);
  record.set_start_time_us(absl::ToUnixMicros(now) - 8 * kDayUs);
  record.set_min_exposures(100);
  const Move release{.action = Action::kRelease, .winner = "new"}, ramp{.action = Action::kRamp};
  CHECK(UnmetConditions(record, release, Enough(), now).empty());
  CHECK(UnmetConditions(record, ramp, Enough(), now).empty());
  Evidence evidence = Enough();
  evidence.winner = "";
  evidence.sample_ratio.verdict = statistics::SampleRatioVerdict::kBlocks;
  evidence.days_with_exposures = 3;
  CHECK(UnmetConditions(record, release, evidence, now).size() == 3);
  evidence.units_since_step = {1000, 5};
  CHECK(UnmetConditions(record, ramp, evidence, now).size() == 2);
  CHECK(UnmetConditions(record, {.action = Action::kRollBack}, evidence, now).empty());
  // A warning of the sample ratio does not block.
  evidence = Enough();
  evidence.sample_ratio.verdict = statistics::SampleRatioVerdict::kWarns;
  CHECK(UnmetConditions(record, release, evidence, now).empty());
}

TEST_CASE("Out of the shadow leads what every treatment has scored enough copies for") {
  auto record = InState(ExperimentRecord::SHADOW, 0);
  record.set_min_exposures(100);
  const Move ramp{.action = Action::kRamp};
  const auto unmet = UnmetConditions(record, ramp, {.copies = {99, 99}}, kNow);
  REQUIRE(unmet.size() == 1);
  CHECK(unmet[0].find("arm 'new' has scored 99 copies") != std::string::npos);
  CHECK(UnmetConditions(record, ramp, {.copies = {100, 100}}, kNow).empty());
  auto slots = InState(ExperimentRecord::DRAFT, 0);
  slots.mutable_arms(1)->clear_release_id();
  slots.mutable_arms(1)->set_slot_variant("slots/banner/variants/b");
  const auto refused = Apply(slots, {.action = Action::kStartShadow}, kNow).status();
  REQUIRE(absl::IsFailedPrecondition(refused));
  CHECK(std::string(refused.message()).find("arms[1]: 'new' has no release") != std::string::npos);
}

TEST_CASE("A violated guardrail rolls back before anything else, in the shadow too") {
  Evidence evidence = Enough();
  evidence.guardrails.push_back(
      {.measure = storage::GuardrailRecord::EMPTY_RATE, .arm = 1, .violated = true});
  for (const auto state : {ExperimentRecord::SHADOW, ExperimentRecord::RUNNING}) {
    auto record = InState(state, .1);
    record.set_automatic_ramp(true);
    const auto next = NextMove(record, evidence, kNow);
    REQUIRE(next.has_value());
    CHECK(next->move.action == Action::kRollBack);
    CHECK(next->reason.find("empty results of arm 'new'") != std::string::npos);
  }
  CHECK_FALSE(NextMove(InState(ExperimentRecord::ROLLED_BACK, .1), evidence, kNow).has_value());
  CHECK_FALSE(NextMove(InState(ExperimentRecord::RUNNING, .1), Enough(), kNow).has_value());  // not automatic
}

}  // namespace waymark::tests
