#include "experiment/decisions/advice.h"

#include "experiment/decisions/experiment_check.h"
#include "experiment/report/looks.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

constexpr int64_t kWeekUs = int64_t{7} * 24 * 3600 * 1000 * 1000;
const absl::Time kStart = absl::FromUnixSeconds(1700000000);

storage::ExperimentRecord Running(double coverage) {
  storage::ExperimentRecord record;
  record.set_id("x");
  for (const char* name : {"control", "new"}) record.add_arms()->set_name(name);
  FillDefaults(&record);
  record.set_state(storage::ExperimentRecord::RUNNING);
  record.set_coverage(coverage);
  record.set_start_time_us(absl::ToUnixMicros(kStart));
  return record;
}

Evidence Plenty() {
  return {.units = {5000, 5000}, .units_since_step = {500, 500}, .days_with_exposures = 8};
}

TEST_CASE("What the figures call for, in its order: roll back, release, roll back what is worse, ramp") {
  const absl::Time later = kStart + absl::Hours(8 * 24);
  Evidence evidence = Plenty();
  evidence.winner = "new";
  Advice advice = Advise(Running(.5), evidence, later);
  REQUIRE(advice.next);
  CHECK(advice.next->move.action == Action::kRelease);
  CHECK(advice.next->move.winner == "new");

  evidence.guardrails = {{.measure = storage::GuardrailRecord::LATENCY, .arm = 1, .violated = true}};
  advice = Advise(Running(.5), evidence, later);
  REQUIRE(advice.next);
  CHECK(advice.next->move.action == Action::kRollBack);

  evidence = Plenty();
  evidence.all_worse = true;
  advice = Advise(Running(.5), evidence, later);
  REQUIRE(advice.next);
  CHECK(advice.next->move.action == Action::kRollBack);
  CHECK_THAT(advice.next->reason, Catch::Contains("worse than the control"));

  advice = Advise(Running(.5), Plenty(), later);
  REQUIRE(advice.next);
  CHECK(advice.next->move.action == Action::kRamp);
  CHECK(advice.next->move.coverage == 1);
}

TEST_CASE("Where looks are planned, advice speaks of them and not of every look") {
  const absl::Time later = kStart + absl::Hours(8 * 24);
  storage::ExperimentRecord record = Running(1);
  record.mutable_planned_looks()->set_looks(2);
  record.mutable_planned_looks()->set_units(10000);
  Evidence evidence = Plenty();
  Advice advice = Advise(record, evidence, later);
  CHECK_FALSE(advice.next);
  REQUIRE(advice.missing.size() == 1);
  CHECK(advice.missing[0] == "release: winner: no planned look has told an arm apart");
  evidence.winner = "new";
  advice = Advise(record, evidence, later);
  REQUIRE(advice.next);
  CHECK_THAT(advice.next->reason, Catch::Contains("beyond the boundary of a planned look"));
}

TEST_CASE("A winner within its first week waits, and the ramp goes on meanwhile") {
  Evidence evidence = Plenty();
  evidence.winner = "new";
  Advice advice = Advise(Running(.5), evidence, kStart + absl::Hours(24));
  REQUIRE(advice.next);
  CHECK(advice.next->move.action == Action::kRamp);
  advice = Advise(Running(1), evidence, kStart + absl::Hours(24));
  CHECK_FALSE(advice.next);
  REQUIRE(advice.missing.size() == 1);
  CHECK_THAT(advice.missing[0], Catch::StartsWith("release: min_run_time"));
}

TEST_CASE("What is missing is listed; what has ended calls for nothing") {
  const Advice advice = Advise(Running(.5), {.units = {5, 5}, .units_since_step = {5, 5}}, kStart);
  CHECK_FALSE(advice.next);
  REQUIRE(advice.missing.size() == 4);  // exposures of both arms; time and a winner
  CHECK_THAT(advice.missing[0], Catch::StartsWith("ramp: min_exposures"));
  CHECK_THAT(advice.missing[3], Catch::StartsWith("release: winner"));
  storage::ExperimentRecord ended = Running(1);
  ended.set_state(storage::ExperimentRecord::STOPPED);
  CHECK_FALSE(Advise(ended, Plenty(), kStart + absl::Microseconds(2 * kWeekUs)).next);
}

TEST_CASE("Looks lie the further apart the older the experiment: about a thousand in four weeks") {
  storage::LooksRecord looks;
  const storage::ExperimentRecord record = Running(1);
  std::vector<Comparison> comparisons(1);
  comparisons[0].absolute = {.1, .05, -.1, .3, .4};
  for (absl::Time now = kStart; now < kStart + absl::Hours(4 * 7 * 24); now += absl::Seconds(10)) {
    if (LookIsDue(looks, record, now)) AddLook(comparisons, now, &looks);
  }
  CHECK(looks.looks_size() > 300);
  CHECK(looks.looks_size() < 1200);
  CHECK(looks.looks(1).time_us() - looks.looks(0).time_us() == 10 * 1000 * 1000);
  CHECK(looks.looks(5).arms(0).high() == .3);
  comparisons[0].problem = "too few";
  const int before = looks.looks_size();
  AddLook(comparisons, kStart, &looks);
  CHECK(looks.looks_size() == before);
  storage::ExperimentRecord ended = record;
  ended.set_state(storage::ExperimentRecord::RELEASED);
  CHECK_FALSE(LookIsDue({}, ended, kStart));
}

}  // namespace
}  // namespace waymark
