#include "experiment/experiments.h"

#include <atomic>
#include <random>
#include <thread>

#include "tests/experiment/fixture.h"

namespace waymark::tests {

TEST_CASE("An experiment runs from a draft to a release, and all of it is there after a restart") {
  ExperimentsFixture f;
  f.Create(SmallExperiment("e"));
  CHECK_FALSE(f.experiments_->any());
  CHECK(absl::IsFailedPrecondition(f.experiments_->Report("e").status()));
  f.Decide("e", {.action = Action::kStart});
  REQUIRE(f.experiments_->any());

  double clicks[2] = {0, 0}, units[2] = {0, 0};
  for (int i = 0; i < 400; ++i) {
    const std::string user = "u" + std::to_string(i);
    const int arm = f.ServeUser(user);
    REQUIRE(arm >= 0);
    ++units[arm];
    // The new ranker's users click always, the others every fourth time.
    if (arm == 0 && i % 4 != 0) continue;
    f.Write({f.Click(user)});
    ++clicks[arm];
  }
  f.clock_.Set(kNow + absl::Hours(24 * 8));
  f.Write({f.Click("u0"), f.Click("stranger")});  // too late; not enrolled
  const ExperimentReport report = f.Report("e");
  REQUIRE(report.comparisons.size() == 1);
  CHECK(report.comparisons[0].control_units == units[0]);
  CHECK(report.comparisons[0].control_mean == Approx(clicks[0] / units[0]));
  CHECK(report.comparisons[0].treatment_mean == 1);
  CHECK(report.verdict == Verdict::kWinner);
  CHECK(report.evidence.winner == "new");

  const auto early = f.TryDecide("e", {.action = Action::kRelease, .winner = "new"});
  REQUIRE(absl::IsFailedPrecondition(early.status()));
  CHECK(std::string(early.status().message()).find("min_run_time") != std::string::npos);
  f.Restart();
  CHECK(f.Report("e").comparisons[0].control_mean == Approx(clicks[0] / units[0]));
  CHECK(f.Report("e").comparisons[0].absolute.p_value == Approx(report.comparisons[0].absolute.p_value));
  f.Decide("e", {.action = Action::kRelease, .winner = "new"}, "the launch is today");

  f.Restart();
  REQUIRE(f.experiments_->PendingReleases().size() == 1);
  CHECK(f.experiments_->Assign({.user_id = "anybody"}).arms[0].arm == 1);
  REQUIRE(f.experiments_->AcknowledgeRelease(f.experiments_->PendingReleases()[0]).ok());
  CHECK(f.experiments_->PendingReleases().empty());
  CHECK_FALSE(f.experiments_->any());
  const auto decisions = f.experiments_->Decisions("e");
  REQUIRE(decisions.size() == 3);
  CHECK(decisions[2].action() == "release");
  CHECK(decisions[2].by() == "ann");
  CHECK(decisions[2].override_reason() == "the launch is today");
  CHECK(decisions[2].seen().at("units_arm_0") == units[0]);
  CHECK(f.Report("e").record.winner() == "new");
}

TEST_CASE("Bad input is refused with the field and what it takes") {
  ExperimentsFixture f;
  REQUIRE(f.experiments_
              ->PutLayer([] {
                storage::LayerRecord layer;
                layer.set_id("ranking");
                return layer;
              }())
              .ok());
  auto taken = SmallExperiment("taken");
  taken.set_layer("ranking"), taken.set_slot_begin(0), taken.set_slot_end(.5);
  f.Create(taken);
  const auto refused = [&](const std::string& words,
                           const std::function<void(storage::ExperimentRecord&)>& spoil) {
    auto record = SmallExperiment("bad");
    spoil(record);
    const auto made = f.experiments_->Create(record, "ann");
    INFO(words << " in " << made.status().ToString());
    REQUIRE_FALSE(made.ok());
    CHECK(std::string(made.status().message()).find(words) != std::string::npos);
  };
  refused("weights add up to 0.9", [](auto& r) { r.mutable_arms(0)->set_weight(.4); });
  refused("arms[1].weight is 0", [](auto& r) { r.mutable_arms(1)->set_weight(0); });
  refused("'r9' is no release", [](auto& r) { r.mutable_arms(1)->set_release_id("r9"); });
  refused("neither a release", [](auto& r) { r.mutable_arms(1)->clear_release_id(); });
  refused("a name of its own", [](auto& r) { r.mutable_arms(1)->set_name("control"); });
  refused("2 to 20", [](auto& r) { r.mutable_arms()->RemoveLast(); });
  refused("did you mean 'clicks'", [](auto& r) { r.set_primary_metric("click"); });
  refused("did you mean 'click'", [](auto& r) { r.mutable_metrics(0)->mutable_events()->set_type("clik"); });
  refused("metrics[0].window is 0", [](auto& r) { r.mutable_metrics(0)->set_window_us(0); });
  refused("there twice", [](auto& r) { *r.add_metrics() = r.metrics(0); });
  refused("metrics is empty", [](auto& r) { r.clear_metrics(); });
  refused("did you mean 'country'", [](auto& r) { r.set_targeting("contry = \"DE\""); });
  refused("the steps of a ramp grow", [](auto& r) { r.clear_ramp(), r.add_ramp(.5), r.add_ramp(.1); });
  refused("its last step is 1", [](auto& r) { r.clear_ramp(), r.add_ramp(.5); });
  refused("whole weeks", [](auto& r) { r.set_min_run_us(2 * kDayUs); });
  refused("alpha is 0.7", [](auto& r) { r.set_alpha(.7); });
  refused("which is no arm", [](auto& r) { (*r.mutable_forced())["tester"] = "newest"; });
  const auto in_layer = [](auto& r) { r.set_layer("ranking"), r.set_slot_begin(.4), r.set_slot_end(1); };
  refused("overlaps [0, 0.5) of experiment 'taken'", in_layer);
  refused("no layer is named", [](auto& r) { r.set_slot_end(.5); });
  refused("GROWTHBOOK_V1",
          [&](auto& r) { in_layer(r), r.set_hash_version(storage::ExperimentRecord::GROWTHBOOK_V1); });
  refused("another kind of unit",
          [&](auto& r) { in_layer(r), r.set_unit(storage::ExperimentRecord::SESSION); });
  refused("layer 'rankin' does not exist", [&](auto& r) { in_layer(r), r.set_layer("rankin"); });
  // What would be taken and do nothing.
  refused("denominator is for a RATIO alone",
          [](auto& r) { r.mutable_metrics(0)->mutable_denominator()->set_type("view"); });
  refused("quantile is for a QUANTILE alone", [](auto& r) { r.mutable_metrics(0)->set_quantile(.5); });
  refused("cut the sums of a MEAN or a RATIO", [](auto& r) {
    r.mutable_metrics(0)->set_kind(storage::MetricRecord::PROPORTION);
    r.mutable_metrics(0)->set_cap(2);
  });
  refused("a request has no past",
          [](auto& r) { r.set_unit(storage::ExperimentRecord::REQUEST), r.set_lookback_us(kDayUs); });
  const auto interleaved = [](auto& r) { r.set_mode(storage::ExperimentRecord::INTERLEAVED); };
  refused("lookback is for the mode SPLIT", [&](auto& r) { interleaved(r), r.set_lookback_us(kDayUs); });
  refused("segment_by is for the mode SPLIT", [&](auto& r) { interleaved(r), r.set_segment_by("country"); });
  refused("credits the arm of each item", [&](auto& r) {
    interleaved(r);
    r.mutable_metrics(0)->mutable_events()->set_value(storage::MetricRecord::Events::REVENUE);
  });
  refused("name one, whose events are the clicks", [&](auto& r) {
    interleaved(r);
    *r.add_metrics() = r.metrics(0);
    r.mutable_metrics(1)->set_name("second");
  });
  CHECK(absl::IsInvalidArgument(f.experiments_->Create(SmallExperiment("e"), "").status()));
  CHECK(absl::IsAlreadyExists(f.experiments_->Create(taken, "ann").status()));
  CHECK(absl::IsNotFound(f.experiments_->Report("none").status()));
  auto silent = SmallExperiment("silent");
  silent.clear_hypothesis();
  f.Create(silent);
  CHECK(absl::IsFailedPrecondition(f.TryDecide("silent", {.action = Action::kStart}).status()));
}

TEST_CASE("A start freezes what the verdict rests on; weights may change and move nobody") {
  ExperimentsFixture f;
  f.CreateAndStart(SmallExperiment("e"));
  int arms[200];
  for (int i = 0; i < 200; ++i) arms[i] = f.ServeUser(std::to_string(i));
  auto changed = *f.experiments_->Get("e");
  changed.set_hypothesis("another one");
  const auto frozen = f.experiments_->Update(changed, "ann", 0);
  REQUIRE(absl::IsFailedPrecondition(frozen.status()));
  CHECK(std::string(frozen.status().message()).find("hypothesis") != std::string::npos);
  changed = *f.experiments_->Get("e");
  changed.mutable_arms(0)->set_weight(.1);
  changed.mutable_arms(1)->set_weight(.9);
  f.clock_.Set(f.clock_.Now() + absl::Hours(1));
  REQUIRE(f.experiments_->Update(changed, "ann", 0).ok());
  for (int i = 0; i < 200; ++i) CHECK(f.ServeUser(std::to_string(i)) == arms[i]);
  int fresh = 0;
  for (int i = 200; i < 1200; ++i) fresh += f.ServeUser(std::to_string(i)) == 1;
  CHECK(std::abs(fresh - 900) < 40);
  // The ratio is held against the weights of the time.
  CHECK(f.Report("e").evidence.sample_ratio.p_value > .001);
  CHECK(f.Report("e").warnings.size() == 1);
}

TEST_CASE("Weights that would split those who come back otherwise than new ones are refused") {
  ExperimentsFixture f;
  auto record = SmallExperiment("half");
  record.clear_ramp(), record.add_ramp(.5), record.add_ramp(1);
  f.CreateAndStart(record);
  const auto change = [&](const std::string& id) {
    auto changed = *f.experiments_->Get(id);
    changed.mutable_arms(0)->set_weight(.2), changed.mutable_arms(1)->set_weight(.8);
    return f.experiments_->Update(changed, "ann", 0).status();
  };
  CHECK(std::string(change("half").message()).find("at a coverage of 0.5") != std::string::npos);
  record.set_id("planout"), record.set_hash_version(storage::ExperimentRecord::PLANOUT);
  f.CreateAndStart(record);
  CHECK(change("planout").ok());
  record.set_id("bandit"), record.set_mode(storage::ExperimentRecord::BANDIT);
  record.mutable_metrics(0)->set_kind(storage::MetricRecord::PROPORTION);
  f.CreateAndStart(record);
  CHECK(std::string(change("bandit").message()).find("follow its outcomes") != std::string::npos);
}

TEST_CASE("Of two decisions at once one wins, and the other is told so") {
  ExperimentsFixture f;
  f.CreateAndStart(SmallExperiment("e"));
  for (int i = 0; i < 10; ++i) f.ServeUser(std::to_string(i));
  const int64_t revision = f.experiments_->Get("e")->revision();
  std::atomic<int> won = 0, aborted = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      const Move move =
          i % 2 == 0 ? Move{.action = Action::kRollBack} : Move{.action = Action::kRelease, .winner = "new"};
      const auto decided = f.TryDecide("e", move, "now", revision);
      won += decided.ok();
      aborted += absl::IsAborted(decided.status()) || absl::IsFailedPrecondition(decided.status());
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(won == 1);
  CHECK(aborted == 5);
  CHECK(f.experiments_->Decisions("e").size() == 3);
}

TEST_CASE(
    "A released winner that is rolled back gives way to the control, also while it is being activated") {
  ExperimentsFixture f;
  f.CreateAndStart(SmallExperiment("e"));
  f.ServeUser("ann");
  f.Decide("e", {.action = Action::kRelease, .winner = "new"}, "a test");
  const auto activating = f.experiments_->PendingReleases();
  REQUIRE(activating.size() == 1);
  CHECK(ReleaseToActivate(activating[0], "r0") == "r1");
  f.Decide("e", {.action = Action::kRollBack});
  CHECK(absl::IsAborted(f.experiments_->AcknowledgeRelease(activating[0])));
  f.Restart();
  const auto pending = f.experiments_->PendingReleases();
  REQUIRE(pending.size() == 1);
  CHECK(pending[0].state() == storage::ExperimentRecord::ROLLED_BACK);
  CHECK(ReleaseToActivate(pending[0], "r1") == "r0");
  CHECK(ReleaseToActivate(pending[0], "r0") == std::nullopt);
  CHECK(ReleaseToActivate(pending[0], "r7") == std::nullopt);  // released since, by somebody else
  CHECK(f.experiments_->Assign({.user_id = "bob"}).arms[0].arm == 0);
  REQUIRE(f.experiments_->AcknowledgeRelease(pending[0]).ok());
  CHECK(f.experiments_->PendingReleases().empty());
  CHECK_FALSE(f.experiments_->any());
  CHECK(f.experiments_->Decisions("e").back().action() == "roll back");
}

TEST_CASE("A candidate that answers nothing, or slowly, is rolled back by itself within 200 exposures") {
  for (const bool slow : {false, true}) {
    ExperimentsFixture f;
    auto record = SmallExperiment("e");
    auto& guardrail = *record.add_guardrails();
    guardrail.set_measure(slow ? storage::GuardrailRecord::LATENCY : storage::GuardrailRecord::EMPTY_RATE);
    guardrail.set_tolerance(slow ? .2 : .05);
    f.CreateAndStart(record);
    std::mt19937 random(1);
    std::exponential_distribution<double> latency(1.0 / 20);
    int exposures = 0;
    while (f.experiments_->any() && exposures < 1000) {
      const std::string user = std::to_string(exposures++);
      const auto assigned = f.experiments_->Assign({.user_id = user});
      REQUIRE(f.experiments_->RecordExposure(assigned, assigned.arms[0], {}).ok());
      const bool broken = assigned.arms[0].arm == 1;
      const bool violated = f.experiments_->RecordServed(
          assigned, {.latency = absl::Milliseconds(latency(random) * (slow && broken ? 5 : 1)),
                     .empty = !slow && broken});
      if (violated) CHECK(f.experiments_->RollBackViolated().size() == 1);
    }
    CHECK(exposures <= 200);
    CHECK(f.experiments_->Get("e")->state() == storage::ExperimentRecord::ROLLED_BACK);
    const auto decision = f.experiments_->Decisions("e").back();
    CHECK(decision.by() == "automatic");
    CHECK(decision.reason().find("guardrail") != std::string::npos);
    CHECK(f.experiments_->RollBackViolated().empty());
    f.Restart();
    CHECK(f.experiments_->Get("e")->state() == storage::ExperimentRecord::ROLLED_BACK);
    CHECK(f.Report("e").verdict == Verdict::kRolledBack);
  }
}

TEST_CASE("Two arms that answer alike are not rolled back in 20 runs of 2,000 answers") {
  int rolled_back = 0;
  storage::ExperimentRecord record = SmallExperiment("e");
  for (const auto measure : {storage::GuardrailRecord::LATENCY, storage::GuardrailRecord::EMPTY_RATE}) {
    record.add_guardrails()->set_measure(measure);
  }
  record.set_alpha(.05);
  std::mt19937 random(2);
  std::exponential_distribution<double> latency(1.0 / 20);
  for (int run = 0; run < 20; ++run) {
    storage::ServedSumsRecord sums;
    sums.add_arms(), sums.add_arms();
    bool violated = false;
    for (int i = 0; i < 2000; ++i) {
      AddAnswer({.latency = absl::Milliseconds(latency(random)), .empty = random() % 20 == 0},
                sums.mutable_arms(i % 2));
      if (i % 10 != 0) continue;
      for (const auto& result : CheckGuardrails(record, sums)) violated |= result.violated;
    }
    rolled_back += violated;
  }
  CHECK(rolled_back <= 1);
}

TEST_CASE(
    "A clock that jumps back decides nothing but a roll-back; one that jumps ahead makes no run time pass") {
  ExperimentsFixture f;
  auto record = SmallExperiment("e");
  record.clear_ramp();
  for (const double step : {.5, 1.0}) record.add_ramp(step);
  f.CreateAndStart(record);
  for (int i = 0; i < 200; ++i) f.ServeUser(std::to_string(i));
  f.clock_.Set(kNow - absl::Hours(2));
  const auto back = f.TryDecide("e", {.action = Action::kRamp});
  REQUIRE(absl::IsFailedPrecondition(back.status()));
  CHECK(std::string(back.status().message()).find("clock") != std::string::npos);
  CHECK(f.experiments_->Tick().ok());
  f.clock_.Set(kNow + absl::Hours(24 * 30));
  const auto ahead = f.TryDecide("e", {.action = Action::kRelease, .winner = "new"});
  REQUIRE(absl::IsFailedPrecondition(ahead.status()));
  CHECK(std::string(ahead.status().message()).find("units came on 1 days of 7") != std::string::npos);
  f.clock_.Set(kNow - absl::Hours(2));
  f.Decide("e", {.action = Action::kRollBack});
}

TEST_CASE("An automatic ramp takes its steps when enough units have come, and never backwards") {
  ExperimentsFixture f;
  auto record = SmallExperiment("e");
  record.clear_ramp();
  for (const double step : {.1, .5, 1.0}) record.add_ramp(step);
  record.set_min_exposures(20);
  record.set_automatic_ramp(true);
  f.CreateAndStart(record);
  CHECK(f.experiments_->Tick()->empty());
  int served = 0;
  for (const double expected : {.5, 1.0}) {
    f.clock_.Set(f.clock_.Now() + absl::Hours(1));
    for (int i = 0; i < 1000; ++i) f.ServeUser(std::to_string(served++));
    CHECK(f.experiments_->Tick()->size() == 1);
    CHECK(f.experiments_->Get("e")->coverage() == expected);
  }
  const auto backwards = f.TryDecide("e", {.action = Action::kRamp, .coverage = .2});
  REQUIRE(absl::IsInvalidArgument(backwards.status()));
  CHECK(std::string(backwards.status().message()).find("a ramp only grows") != std::string::npos);
}

TEST_CASE("A running experiment is not deleted; an ended one is, and its decisions stay") {
  ExperimentsFixture f;
  f.CreateAndStart(SmallExperiment("e"));
  f.ServeUser("ann");
  const auto running = f.experiments_->Delete("e", "ann", 0);
  REQUIRE(absl::IsFailedPrecondition(running));
  CHECK(std::string(running.message()).find("stop it first") != std::string::npos);
  f.Decide("e", {.action = Action::kEnd});
  CHECK(f.experiments_->Assign({.user_id = "ann"}).arms.empty());
  REQUIRE(f.experiments_->Delete("e", "ann", 0).ok());
  CHECK(absl::IsNotFound(f.experiments_->Report("e").status()));
  CHECK(f.experiments_->Decisions("e").size() == 4);
  CHECK(absl::IsNotFound(f.store_->GetExposure(f.scope_, "e", "u:ann").status()));
}

TEST_CASE("Requests go on while others decide and the log is followed") {
  ExperimentsFixture f;
  auto record = SmallExperiment("e");
  record.clear_ramp();
  for (const double step : {.2, .4, .6, .8, 1.0}) record.add_ramp(step);
  f.CreateAndStart(record);
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; !stop; ++i) {
        const std::string user = std::to_string(t) + "-" + std::to_string(i % 500);
        const auto assigned = f.experiments_->Assign({.user_id = user});
        for (const AssignedArm& arm : assigned.arms) {
          f.experiments_->RecordExposure(assigned, arm, {}).IgnoreError();
        }
        f.experiments_->RecordServed(assigned, {.latency = absl::Milliseconds(1)});
      }
    });
  }
  for (int i = 0; i < 4; ++i) {
    f.Write({f.Click("0-" + std::to_string(i))});
    f.Decide("e", {.action = Action::kRamp}, "a test");
    CHECK(f.experiments_->Tick().ok());
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(f.experiments_->Get("e")->coverage() == 1);
}

}  // namespace waymark::tests
