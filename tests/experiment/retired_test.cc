// Experiments that ended a day ago: out of memory, with the same figures, and within reach of erasures.
#include "experiment/experiments.h"
#include "tests/experiment/fixture.h"

namespace waymark::tests {
namespace {

// Users u0 to u39, of whom every fourth clicks, on an experiment that has been stopped.
void RunAndStop(ExperimentsFixture* f, const storage::ExperimentRecord& record) {
  f->CreateAndStart(record);
  std::vector<Mutation> clicks;
  for (int i = 0; i < 40; ++i) {
    const std::string user = "u" + std::to_string(i);
    f->ServeUser(user);
    if (i % 4 == 0) clicks.push_back(f->Click(user));
  }
  f->Write(clicks);
  f->Decide(record.id(), {.action = Action::kEnd});
}

double Clicks(const ExperimentReport& report) {
  REQUIRE(report.comparisons.size() == 1);
  const Comparison& one = report.comparisons[0];
  return one.control_units * one.control_mean + one.treatment_units * one.treatment_mean;
}

}  // namespace

TEST_CASE("An experiment that ended a day ago is not held in memory, and its report stays what it was") {
  ExperimentsFixture f;
  RunAndStop(&f, SmallExperiment("e"));
  REQUIRE(f.experiments_->Tick().ok());
  CHECK(f.experiments_->InMemory() == 1);
  const ExperimentReport before = f.Report("e");
  REQUIRE(before.evidence.units[0] + before.evidence.units[1] == 40);
  CHECK(Clicks(before) == Approx(10));

  f.clock_.Set(f.clock_.Now() + absl::Hours(25));
  REQUIRE(f.experiments_->Tick().ok());
  CHECK(f.experiments_->InMemory() == 0);
  for (int restart = 0; restart < 3; ++restart) {
    const ExperimentReport report = f.Report("e");
    CHECK(report.evidence.units == before.evidence.units);
    CHECK(Clicks(report) == Approx(10));
    CHECK(f.experiments_->EvaluatePolicy("e", {.shares = {{"new", 1}}}).ok());
    CHECK(f.experiments_->Advise("e").ok());
    f.Restart();
    CHECK(f.experiments_->InMemory() == 0);
  }
  // What arrives late and belongs into the window counts.
  f.Write({f.Click("u1", -absl::Hours(20))});
  CHECK(Clicks(f.Report("e")) == Approx(11));
  f.Write({f.Click("u1", -absl::Hours(19))});
  CHECK(Clicks(f.Report("e")) == Approx(12));
}

TEST_CASE("Erasures reach an experiment that is no longer in memory, also those of before a restart") {
  ExperimentsFixture f;
  RunAndStop(&f, SmallExperiment("e"));
  f.clock_.Set(f.clock_.Now() + absl::Hours(25));
  REQUIRE(f.experiments_->Tick().ok());
  REQUIRE(f.experiments_->InMemory() == 0);
  const auto units = [&] {
    const ExperimentReport report = f.Report("e");
    return report.evidence.units[0] + report.evidence.units[1];
  };
  const auto kept = [&](const std::string& unit) { return f.store_->GetExposure(f.scope_, "e", unit).ok(); };
  REQUIRE(kept("u:u0"));
  f.Write({DeleteUser{"u0"}});
  REQUIRE(f.experiments_->CatchUp().ok());
  CHECK_FALSE(kept("u:u0"));
  CHECK(units() == 39);
  // By name, who never had an event.
  REQUIRE(f.experiments_->Forget("u:u1").ok());
  CHECK_FALSE(kept("u:u1"));
  CHECK(units() == 38);
  // In the log, but the program ended before it looked.
  f.experiments_.reset();
  f.Write({DeleteUser{"u4"}});
  f.OpenExperiments();
  CHECK(f.experiments_->InMemory() == 0);
  CHECK_FALSE(kept("u:u4"));
  CHECK(kept("u:u8"));
  CHECK(units() == 37);
}

TEST_CASE("A visitor's exposure goes with its user's from an experiment that is no longer in memory") {
  ExperimentsFixture f;
  f.CreateAndStart(SmallExperiment("e"));
  f.Serve({.visitor_id = "v"});
  f.Write({f.Click("v"), Identify("ann", "v"), f.Click("uann")});
  REQUIRE(f.experiments_->CatchUp().ok());
  f.ServeUser("other");
  f.Decide("e", {.action = Action::kEnd});
  f.clock_.Set(f.clock_.Now() + absl::Hours(25));
  REQUIRE(f.experiments_->Tick().ok());
  REQUIRE(f.experiments_->InMemory() == 0);
  REQUIRE(f.store_->GetExposure(f.scope_, "e", "v:v").ok());
  REQUIRE(f.store_->GetExposure(f.scope_, "e", "u:ann").ok());
  f.Write({DeleteUser{"ann"}});
  REQUIRE(f.experiments_->CatchUp().ok());
  CHECK_FALSE(f.store_->GetExposure(f.scope_, "e", "v:v").ok());
  CHECK_FALSE(f.store_->GetExposure(f.scope_, "e", "u:ann").ok());
  CHECK(f.store_->GetExposure(f.scope_, "e", "u:other").ok());
}

TEST_CASE("A release of long ago is taken back though its experiment is no longer in memory") {
  ExperimentsFixture f;
  f.CreateAndStart(SmallExperiment("e"));
  f.ServeUser("ann");
  auto released = f.Decide("e", {.action = Action::kRelease, .winner = "new"}, "a test");
  REQUIRE(f.experiments_->AcknowledgeRelease(released).ok());
  f.clock_.Set(f.clock_.Now() + absl::Hours(25));
  REQUIRE(f.experiments_->Tick().ok());
  REQUIRE(f.experiments_->InMemory() == 0);
  auto back = f.Decide("e", {.action = Action::kRollBack});
  CHECK(back.state() == storage::ExperimentRecord::ROLLED_BACK);
  REQUIRE(f.experiments_->PendingReleases().size() == 1);
  CHECK(f.ServeUser("ann") == 0);
  CHECK(f.ServeUser("bob") == 0);
  f.Restart();  // not acknowledged yet
  CHECK(f.ServeUser("ann") == 0);
  REQUIRE(f.experiments_->AcknowledgeRelease(f.experiments_->PendingReleases().at(0)).ok());
  CHECK(f.ServeUser("ann") == -1);
  CHECK(f.Report("e").evidence.units[0] + f.Report("e").evidence.units[1] == 1);
}

TEST_CASE("Lists of two arms give the same credit when they are read again, and are erased by reader") {
  ExperimentsFixture f;
  auto record = SmallExperiment("lists");
  record.set_mode(storage::ExperimentRecord::INTERLEAVED);
  f.CreateAndStart(record);
  f.Write({Event("u0", "a"), Event("u0", "b")});
  const auto a = *f.store_->FindItem(f.scope_, "a"), b = *f.store_->FindItem(f.scope_, "b");
  // u1 to u3 have no number yet when they are shown their lists.
  for (int i = 0; i < 4; ++i) {
    const std::string user = "u" + std::to_string(i), request = "q" + std::to_string(i);
    const auto assigned = f.experiments_->Assign({.user_id = user});
    const InterleavedAnswer list{"u:" + user, {{a, Team::kA}, {b, Team::kB}}};
    REQUIRE(
        f.experiments_->RecordInterleaved(assigned, assigned.arms.at(0), {.request_id = request}, list).ok());
    WriteEvent click = Event(user, i < 3 ? "b" : "a");
    click.time = f.clock_.Now() + absl::Hours(1);
    click.request_id = request;
    f.Write({click});
  }
  f.Decide("lists", {.action = Action::kEnd});
  f.clock_.Set(f.clock_.Now() + absl::Hours(25));
  REQUIRE(f.experiments_->Tick().ok());
  CHECK(f.experiments_->InMemory() == 0);
  for (int restart = 0; restart < 2; ++restart) {
    const ExperimentReport report = f.Report("lists");
    REQUIRE(report.interleaving.size() == 1);
    CHECK(report.interleaving[0].lists == 4);
    CHECK(report.interleaving[0].preference.b_wins == 3);
    CHECK(report.interleaving[0].preference.a_wins == 1);
    f.Restart();
  }
  f.Write({DeleteUser{"u3"}});  // by the log alone, as after a kill
  REQUIRE(f.experiments_->CatchUp().ok());
  CHECK_FALSE(f.store_->GetExposure(f.scope_, "lists", "r:q3").ok());
  CHECK(f.store_->GetExposure(f.scope_, "lists", "r:q2").ok());
  CHECK(f.Report("lists").interleaving.at(0).preference.a_wins == 0);
  CHECK(
      absl::IsFailedPrecondition(f.experiments_->EvaluatePolicy("lists", {.shares = {{"new", 1}}}).status()));
}

}  // namespace waymark::tests
