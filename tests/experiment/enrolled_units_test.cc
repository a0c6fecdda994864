// Who is enrolled, once, as which unit; what is kept of it; and who is forgotten.
#include "experiment/experiments.h"
#include "tests/experiment/fixture.h"

namespace waymark::tests {

TEST_CASE("A visitor who becomes a user is one unit, in the arm that was seen first") {
  ExperimentsFixture f;
  f.CreateAndStart(SmallExperiment("e"));
  // By the request that names both.
  const int first = f.Serve({.visitor_id = "v1"});
  CHECK(f.Serve({.user_id = "ann", .visitor_id = "v1"}) == first);
  CHECK(f.ServeUser("ann") == first);
  // By an identify event alone.
  const int second = f.Serve({.visitor_id = "v2"});
  f.Write({f.Click("v2"), Identify("bob", "v2"), f.Click("ubob")});
  REQUIRE(f.experiments_->CatchUp().ok());
  CHECK(f.ServeUser("bob") == second);
  f.Write({Identify("ubob", "v3")});
  for (int restart = 0; restart < 2; ++restart) {
    const ExperimentReport report = f.Report("e");
    CHECK(report.evidence.units[0] + report.evidence.units[1] == 2);
    CHECK(report.conflicts == 0);
    f.Restart();
  }
}

TEST_CASE("A visitor and a user in one arm are one unit from the first request that names both") {
  ExperimentsFixture f;
  f.CreateAndStart(SmallExperiment("e"));
  std::string user, visitor;
  for (int i = 0; user.empty() || visitor.empty(); ++i) {
    const std::string id = std::to_string(i);
    const auto arm = f.experiments_->Assign({.user_id = id}).arms[0].arm;
    if (arm == 1) (user.empty() ? user : visitor) = id;
  }
  f.Serve({.visitor_id = visitor});
  f.clock_.Set(f.clock_.Now() + absl::Hours(5));
  CHECK(f.ServeUser(user) == 1);
  f.Write({f.Click(visitor, -absl::Hours(2)), f.Click(visitor), f.Click("u" + user)});
  CHECK(f.Report("e").evidence.units[1] == 2);
  CHECK(f.Serve({.user_id = user, .visitor_id = visitor}) == 1);
  CHECK(f.Serve({.user_id = user, .visitor_id = visitor}) == 1);
  for (int restart = 0; restart < 2; ++restart) {
    const ExperimentReport report = f.Report("e");
    CHECK(report.evidence.units[1] == 1);
    CHECK(report.conflicts == 0);
    f.Restart();
  }
}

TEST_CASE("A person who saw two arms is flagged and counts in none") {
  ExperimentsFixture f;
  f.CreateAndStart(SmallExperiment("e"));
  std::string user, visitor;
  for (int i = 0; user.empty() || visitor.empty(); ++i) {
    const std::string id = std::to_string(i);
    const auto arm = f.experiments_->Assign({.user_id = id}).arms[0].arm;
    if (arm == 0 && user.empty()) user = id;
    if (arm == 1 && visitor.empty()) visitor = id;
  }
  CHECK(f.ServeUser(user) == 0);
  CHECK(f.Serve({.visitor_id = visitor}) == 1);
  f.ServeUser("other");
  CHECK(f.Serve({.user_id = user, .visitor_id = visitor}) == 0);
  for (int restart = 0; restart < 2; ++restart) {
    const ExperimentReport report = f.Report("e");
    CHECK(report.conflicts == 2);
    CHECK(report.evidence.units[0] + report.evidence.units[1] == 1);
    CHECK_FALSE(report.warnings.empty());
    f.Restart();
  }
}

TEST_CASE("What is exposed together counts as what is exposed one after the other, also who saw two arms") {
  ExperimentsFixture f;
  f.CreateAndStart(SmallExperiment("e"));
  std::string user, visitor;
  for (int i = 0; user.empty() || visitor.empty(); ++i) {
    const std::string id = std::to_string(i);
    const auto arm = f.experiments_->Assign({.user_id = id}).arms[0].arm;
    if (arm == 0 && user.empty()) user = id;
    if (arm == 1 && visitor.empty()) visitor = id;
  }
  // Nobody is enrolled yet when these are assigned: the user and the visitor, twice, and 500 others.
  std::vector<std::string> others;
  for (int i = 0; i < 500; ++i) others.push_back("other-" + std::to_string(i));
  std::vector<Experiments::Assignments> assigned = {f.experiments_->Assign({.user_id = user}),
                                                    f.experiments_->Assign({.visitor_id = visitor}),
                                                    f.experiments_->Assign({.user_id = user})};
  for (const std::string& other : others) assigned.push_back(f.experiments_->Assign({.user_id = other}));
  std::vector<Experiments::Exposed> exposed;
  for (const auto& one : assigned) exposed.push_back({&one, &one.arms[0], {}});
  // The visitor turns out to be the user, who is enrolled by the same call.
  AssignedArm both = assigned[0].arms[0];
  both.conflicts_with = "v:" + visitor;
  exposed.push_back({&assigned[0], &both, {}});
  REQUIRE(f.experiments_->RecordExposures(exposed).ok());
  for (int restart = 0; restart < 2; ++restart) {
    const ExperimentReport report = f.Report("e");
    CHECK(report.evidence.units[0] + report.evidence.units[1] == 500);
    CHECK(report.conflicts == 2);
    f.Restart();
  }
  // An arm other than the one of before, in one call: the second is a conflict of a unit that is not written
  // yet.
  AssignedArm first = f.experiments_->Assign({.user_id = "new"}).arms[0], second = first;
  second.arm = 1 - first.arm;
  const auto plan = f.experiments_->Assign({.user_id = "new"});
  first.experiment = second.experiment = plan.arms[0].experiment;
  REQUIRE(f.experiments_->RecordExposures({{&plan, &first, {}}, {&plan, &second, {}}}).ok());
  CHECK(f.store_->GetExposure(f.scope_, "e", "u:new")->conflict());
}

TEST_CASE("An exposure is written once, with what served it") {
  ExperimentsFixture f;
  f.CreateAndStart(SmallExperiment("e"));
  const int arm = f.Serve({.user_id = "ann"}, {.request_id = "q1", .surface = "home"});
  f.clock_.Set(f.clock_.Now() + absl::Hours(1));
  f.Serve({.user_id = "ann"}, {.request_id = "q2", .surface = "search"});
  const auto exposure = f.store_->GetExposure(f.scope_, "e", "u:ann");
  REQUIRE(exposure.ok());
  CHECK(exposure->request_id() == "q1");
  CHECK(exposure->surface() == "home");
  CHECK(exposure->time_us() == absl::ToUnixMicros(kNow));
  CHECK(exposure->release_id() == "r" + std::to_string(arm));
  CHECK(exposure->ranker_sha256() == "sha of r" + std::to_string(arm));
  CHECK(exposure->propensity() == .5);
  f.Restart();
  CHECK(f.ServeUser("ann") == arm);
}

TEST_CASE("The past of a unit is the covariate, before and after a restart") {
  ExperimentsFixture f;
  auto record = SmallExperiment("e");
  record.set_lookback_us(14 * kDayUs);
  std::mt19937 random(3);
  f.Create(record);
  std::vector<int> past(300);
  for (int i = 0; i < 300; ++i) {
    past[static_cast<size_t>(i)] = static_cast<int>(random() % 5);
    for (int n = 0; n < past[static_cast<size_t>(i)]; ++n)
      f.Write({f.Click("u" + std::to_string(i), -absl::Hours(30 + n))});
    f.Write({f.Click("u" + std::to_string(i), -absl::Hours(24 * 20))});  // too long ago
  }
  f.OpenExperiments();  // everything is past what is followed
  f.Decide("e", {.action = Action::kStart});
  for (int i = 0; i < 300; ++i) {
    f.ServeUser("u" + std::to_string(i));
    for (int n = 0; n < past[static_cast<size_t>(i)] + static_cast<int>(random() % 2); ++n) {
      f.Write({f.Click("u" + std::to_string(i), absl::Minutes(n + 1))});
    }
  }
  const Comparison before = f.Report("e").comparisons[0];
  CHECK(before.variance_reduction > .7);
  f.Restart();
  const Comparison after = f.Report("e").comparisons[0];
  CHECK(after.variance_reduction == Approx(before.variance_reduction));
  CHECK(after.absolute.estimate == Approx(before.absolute.estimate));
}

TEST_CASE("An erased user is in no experiment any more") {
  ExperimentsFixture f;
  f.CreateAndStart(SmallExperiment("e"));
  f.Write({f.Click("uann"), f.Click("ubob")});
  f.ServeUser("uann"), f.ServeUser("ubob");
  f.Write({DeleteUser{"uann"}});
  REQUIRE(f.experiments_->CatchUp().ok());
  CHECK(absl::IsNotFound(f.store_->GetExposure(f.scope_, "e", "u:uann").status()));
  CHECK(f.Report("e").evidence.units[0] + f.Report("e").evidence.units[1] == 1);
  REQUIRE(f.experiments_->Forget("u:ubob").ok());
  CHECK(absl::IsNotFound(f.store_->GetExposure(f.scope_, "e", "u:ubob").status()));
}

TEST_CASE("Sessions and requests are units too") {
  ExperimentsFixture f;
  auto record = SmallExperiment("sessions");
  record.set_unit(storage::ExperimentRecord::SESSION);
  f.CreateAndStart(record);
  f.Serve({.session_id = "s1"}), f.Serve({.session_id = "s2"});
  WriteEvent event = f.Click("ann");
  event.session_id = "s2";
  f.Write({event, f.Click("ann")});
  const ExperimentReport report = f.Report("sessions");
  CHECK(report.evidence.units[0] + report.evidence.units[1] == 2);
  CHECK(f.Serve({.user_id = "ann"}) == -1);
}

}  // namespace waymark::tests
