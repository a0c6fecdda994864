#include "experiment/report/planned_looks.h"

#include "tests/experiment/fixture.h"

namespace waymark::tests {
namespace {

using storage::ExperimentRecord;
using storage::LooksRecord;

ExperimentRecord PlannedExperiment(int looks, int64_t units) {
  ExperimentRecord record = SmallExperiment("p");
  record.set_alpha(.05);
  record.set_state(ExperimentRecord::RUNNING);
  record.mutable_planned_looks()->set_looks(looks);
  record.mutable_planned_looks()->set_units(units);
  return record;
}

Comparison Seen(double estimate, double standard_error) {
  Comparison comparison;
  comparison.fixed_horizon = {.estimate = estimate, .standard_error = standard_error};
  return comparison;
}

}  // namespace

TEST_CASE("Planned looks are due at even shares of the units, and missed ones are not made up for") {
  const ExperimentRecord record = PlannedExperiment(5, 1000);
  LooksRecord looks;
  CHECK_FALSE(PlannedLookIsDue(record, looks, 199));
  CHECK(PlannedLookIsDue(record, looks, 200));
  AddPlannedLook(record, {Comparison{.problem = "too few units"}}, 200, kNow, &looks);
  CHECK(looks.planned().empty());  // still due
  AddPlannedLook(record, {Seen(0, 1)}, 230, kNow, &looks);
  CHECK(looks.planned(0).share() == Approx(.23));
  CHECK_FALSE(PlannedLookIsDue(record, looks, 399));
  REQUIRE(PlannedLookIsDue(record, looks, 810));  // past the second, third and fourth
  AddPlannedLook(record, {Seen(0, 1)}, 810, kNow, &looks);
  CHECK_FALSE(PlannedLookIsDue(record, looks, 999));
  REQUIRE(PlannedLookIsDue(record, looks, 1200));
  AddPlannedLook(record, {Seen(0, 1)}, 1200, kNow, &looks);
  CHECK(looks.planned(2).share() == 1);
  CHECK_FALSE(PlannedLookIsDue(record, looks, 5000));
  ExperimentRecord ended = record;
  ended.set_state(ExperimentRecord::STOPPED);
  CHECK_FALSE(PlannedLookIsDue(ended, {}, 500));
  CHECK_FALSE(PlannedLookIsDue(SmallExperiment("other"), {}, 500));
}

// The boundaries of five even looks by Lan and DeMets' program: 4.8769, 3.3569, 2.6803, 2.2898, 2.0310.
TEST_CASE("A planned look tells arms apart beyond its boundary, and what is seen later changes nothing") {
  const ExperimentRecord record = PlannedExperiment(5, 1000);
  LooksRecord looks;
  const double z[] = {4.87, 3.35, 2.69, 0, -2.1};
  for (int look = 0; look < 5; ++look) {
    AddPlannedLook(record, {Seen(.5 * z[look], .5)}, 200 * (look + 1), kNow, &looks);
    const auto results = *JudgePlannedLooks(record, looks);
    REQUIRE(results.size() == static_cast<size_t>(look + 1));
    CHECK(results.back().arm == "new");
    CHECK(results.back().crossed == (look == 2 || look == 4));
    CHECK(PlannedWinner(results, false) == (look < 2 ? "" : "new"));
    CHECK(PlannedAllWorse(results, true, 2) == (look >= 2));
    CHECK_FALSE(PlannedAllWorse(results, false, 2));
    CHECK(PlannedWinner(results, true).empty());
  }
  const auto results = *JudgePlannedLooks(record, looks);
  CHECK(results[2].low == Approx(.5 * (2.69 - 2.6803)).margin(3e-4));
  CHECK(results[2].boundary_p == Approx(.00736).margin(1e-5));  // of z 2.6803
}

TEST_CASE("Looks that cannot have been taken so are named, not passed over") {
  const ExperimentRecord record = PlannedExperiment(5, 1000);
  LooksRecord looks;
  for (const double share : {.4, .2}) {
    LooksRecord::PlannedLook* look = looks.add_planned();
    look->set_share(share);
    look->add_arms()->set_standard_error(1);
  }
  CHECK(absl::IsInvalidArgument(JudgePlannedLooks(record, looks).status()));
}

TEST_CASE("Treatments share alpha") {
  ExperimentRecord record = PlannedExperiment(1, 1000);
  *record.add_arms() = record.arms(1);
  record.mutable_arms(2)->set_name("third");
  LooksRecord looks;
  // Of one look at 2.5% the boundary is 2.2414, at 5% it is 1.9600.
  AddPlannedLook(record, {Seen(2.2, 1), Seen(2.3, 1)}, 1000, kNow, &looks);
  const auto results = *JudgePlannedLooks(record, looks);
  REQUIRE(results.size() == 2);
  CHECK_FALSE(results[0].crossed);
  CHECK(results[1].crossed);
  CHECK(PlannedWinner(results, false) == "third");
  CHECK_FALSE(PlannedAllWorse(results, true, 3));
}

TEST_CASE("An experiment with planned looks is decided by them, also after a restart") {
  ExperimentsFixture f;
  ExperimentRecord record = SmallExperiment("p");
  record.mutable_metrics(0)->set_window_us(int64_t{90} * 60 * 1000 * 1000);
  record.mutable_planned_looks()->set_looks(2);
  record.mutable_planned_looks()->set_units(400);
  ExperimentRecord wrong = record;
  wrong.mutable_planned_looks()->set_units(119);
  const auto refused = f.experiments_->Create(wrong, "ann");
  CHECK(std::string(refused.status().message()).find("planned_looks.units is 119") != std::string::npos);
  wrong = record;
  wrong.set_mode(ExperimentRecord::INTERLEAVED);
  CHECK_FALSE(f.experiments_->Create(wrong, "ann").ok());
  f.CreateAndStart(record);
  const auto serve = [&](int from, int to, int control_clicks_in) {
    for (int i = from; i < to; ++i) {
      const std::string user = "u" + std::to_string(i);
      const int arm = f.ServeUser(user);
      REQUIRE(arm >= 0);
      if (arm == 1 || i % control_clicks_in == 0) f.Write({f.Click(user)});
    }
    f.clock_.Set(f.clock_.Now() + absl::Hours(2));
    REQUIRE(f.experiments_->Tick().ok());
  };
  serve(0, 150, 4);  // a large difference, and no look is due
  CHECK(f.Report("p").planned_looks.empty());
  CHECK(f.Report("p").comparisons[0].absolute.p_value < .05);
  CHECK(f.Report("p").verdict == Verdict::kGoOn);
  serve(150, 230, 4);
  f.Restart();
  const ExperimentReport report = f.Report("p");
  REQUIRE(report.planned_looks.size() == 1);
  CHECK(report.planned_looks[0].units == 230);
  CHECK(report.planned_looks[0].share == Approx(230. / 400));
  CHECK(report.planned_looks[0].crossed);
  CHECK(report.planned_looks[0].p_value == Approx(report.comparisons[0].fixed_horizon.p_value));
  CHECK(report.evidence.winner == "new");
  CHECK(report.verdict == Verdict::kWinner);
  f.clock_.Set(f.clock_.Now() + absl::Hours(24 * 8));
  const auto early = f.TryDecide("p", {.action = Action::kRelease, .winner = "new"});
  CHECK(std::string(early.status().message()).find("min_run_time") != std::string::npos);
  f.Decide("p", {.action = Action::kRelease, .winner = "new"}, "a test");
}

// All units come at once and their clicks days later: a look at once would be the last, and see nothing.
TEST_CASE("A planned look takes in the units whose window is over, and waits for them") {
  ExperimentsFixture f;
  ExperimentRecord record = SmallExperiment("p");  // a window of 7 days
  record.mutable_planned_looks()->set_looks(2);
  record.mutable_planned_looks()->set_units(400);
  f.CreateAndStart(record);
  std::vector<int> arms;
  for (int i = 0; i < 400; ++i) arms.push_back(f.ServeUser("u" + std::to_string(i)));
  REQUIRE(f.experiments_->Tick().ok());
  CHECK(f.Report("p").planned_looks.empty());
  f.clock_.Set(f.clock_.Now() + absl::Hours(24 * 3));
  for (int i = 400; i < 700; ++i) f.ServeUser("u" + std::to_string(i));  // their window ends later
  int64_t clicks = 0, control = 0, treated = 0;
  for (int i = 0; i < 400; ++i) {
    (arms[static_cast<size_t>(i)] == 1 ? treated : control) += 1;
    if (arms[static_cast<size_t>(i)] == 1 && i % 3 != 0)
      f.Write({f.Click("u" + std::to_string(i))}), ++clicks;
  }
  REQUIRE(f.experiments_->Tick().ok());
  CHECK(f.Report("p").planned_looks.empty());
  f.clock_.Set(f.clock_.Now() + absl::Hours(24 * 4 + 1));
  REQUIRE(f.experiments_->Tick().ok());
  const ExperimentReport report = f.Report("p");
  REQUIRE(report.planned_looks.size() == 1);
  CHECK(report.planned_looks[0].units == 400);
  CHECK(report.planned_looks[0].estimate ==
        Approx(static_cast<double>(clicks) / static_cast<double>(treated)));
  CHECK(report.planned_looks[0].crossed);
  CHECK(report.evidence.primary.at("planned look of 'new' units") == 400);
  CHECK(report.evidence.primary.at("planned look of 'new' told apart") == 1);
  CHECK(control + treated == 400);
}

TEST_CASE("Planned looks that are over without a difference say so") {
  ExperimentsFixture f;
  ExperimentRecord record = SmallExperiment("p");
  record.mutable_metrics(0)->set_window_us(int64_t{90} * 60 * 1000 * 1000);
  record.mutable_planned_looks()->set_looks(1);
  record.mutable_planned_looks()->set_units(200);
  f.CreateAndStart(record);
  for (int i = 0; i < 200; ++i) {
    const std::string user = "u" + std::to_string(i);
    REQUIRE(f.ServeUser(user) >= 0);
    if (i % 2 == 0) f.Write({f.Click(user)});
  }
  f.clock_.Set(f.clock_.Now() + absl::Hours(2));
  REQUIRE(f.experiments_->Tick().ok());
  CHECK(f.Report("p").verdict == Verdict::kNotToldApart);
}

}  // namespace waymark::tests
