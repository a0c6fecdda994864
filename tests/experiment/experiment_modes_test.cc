// Interleaved and bandit experiments over a store, and what survives a restart.
#include <set>

#include "experiment/interleaving/team_draft.h"
#include "tests/experiment/fixture.h"

namespace waymark::tests {
namespace {

using storage::ExperimentRecord;

ExperimentRecord Interleaved() {
  ExperimentRecord record = SmallExperiment("x");
  record.set_mode(ExperimentRecord::INTERLEAVED);
  record.set_sequential_tuning(50);  // readers; few are shown lists here
  return record;
}

ExperimentRecord Bandit() {
  ExperimentRecord record = SmallExperiment("x");
  record.set_mode(ExperimentRecord::BANDIT);
  record.mutable_metrics(0)->set_kind(storage::MetricRecord::PROPORTION);
  record.mutable_metrics(0)->set_window_us(int64_t{60} * 1000 * 1000);
  return record;
}

// A list of items 1 (A) and 2 (B) for `reader`.
void ShowList(Experiments* experiments, const std::string& user, const std::string& request,
              const std::vector<ItemOrdinal>& items) {
  const auto assigned = experiments->Assign({.user_id = user});
  REQUIRE(assigned.arms.size() == 1);
  REQUIRE(assigned.arms[0].Interleaved());
  const InterleavedAnswer list{"u:" + user, {{items[0], Team::kA}, {items[1], Team::kB}}};
  REQUIRE(experiments->RecordInterleaved(assigned, assigned.arms[0], {.request_id = request}, list).ok());
}

TEST_CASE_METHOD(ExperimentsFixture,
                 "Interleaved lists get their clicks, after a restart too, and name a winner") {
  CreateAndStart(Interleaved());
  Write({Event("u0", "a"), Event("u0", "b")});
  const std::vector<ItemOrdinal> items = {*store_->FindItem(scope_, "a"), *store_->FindItem(scope_, "b")};
  for (int i = 0; i < 40; ++i)
    ShowList(experiments_.get(), absl::StrCat("u", i), absl::StrCat("q", i), items);
  for (int i = 0; i < 30; ++i) {
    WriteEvent click = Event(absl::StrCat("u", i), i < 28 ? "b" : "a");
    click.time = clock_.Now() + absl::Hours(1);
    click.request_id = absl::StrCat("q", i);
    Write({click});
  }
  for (const bool restarted : {false, true}) {
    if (restarted) {
      clock_.Set(clock_.Now() + absl::Hours(9 * 24));  // every list's window is over
      Restart();
    }
    const ExperimentReport report = Report("x");
    REQUIRE(report.interleaving.size() == 1);
    CHECK(report.interleaving[0].lists == 40);
    CHECK(report.interleaving[0].preference.b_wins == 28);
    CHECK(report.interleaving[0].preference.a_wins == 2);
    CHECK(report.interleaving[0].preference.ties == 10);
    CHECK(report.interleaving[0].preference.delta == Approx((28 + 5) / 40.0 - .5));
    CHECK(report.evidence.units == std::vector<int64_t>{40, 40});
    CHECK(report.evidence.winner == "new");
    REQUIRE(report.comparisons.size() == 1);
    CHECK(report.comparisons[0].absolute.estimate == Approx(26.0 / 40));
  }
  // Conditions hold for it as for any other experiment.
  const auto early = TryDecide("x", {.action = Action::kRelease, .winner = "new"});
  CHECK_THAT(std::string(early.status().message()), Catch::Contains("min_run_time"));
  Decide("x", {.action = Action::kRelease, .winner = "new"}, "a test");
}

TEST_CASE_METHOD(ExperimentsFixture, "An erased reader leaves no list behind") {
  CreateAndStart(Interleaved());
  Write({Event("u0", "a"), Event("u1", "b")});
  const std::vector<ItemOrdinal> items = {*store_->FindItem(scope_, "a"), *store_->FindItem(scope_, "b")};
  ShowList(experiments_.get(), "u0", "q0", items);
  ShowList(experiments_.get(), "u1", "q1", items);
  Write({DeleteUser{"u0"}});
  REQUIRE(experiments_->CatchUp().ok());
  CHECK(Report("x").interleaving[0].preference.lists == 1);
  int left = 0;
  REQUIRE(store_
              ->ForEachExposure(scope_, "x",
                                [&](const storage::ExposureRecord& list) {
                                  CHECK(list.reader() == "u:u1");
                                  return ++left > 0;
                                })
              .ok());
  CHECK(left == 1);
}

TEST_CASE_METHOD(ExperimentsFixture,
                 "What an interleaved experiment or a bandit cannot be is refused by field") {
  const auto refusal = [&](const ExperimentRecord& record) {
    return std::string(experiments_->Create(record, "ann").status().message());
  };
  ExperimentRecord guarded = Interleaved();
  storage::GuardrailRecord& guardrail = *guarded.add_guardrails();
  guardrail.set_measure(storage::GuardrailRecord::LATENCY);
  guardrail.set_tolerance(.1);
  CHECK_THAT(refusal(guarded), Catch::StartsWith("guardrails: "));
  ExperimentRecord three = Interleaved();
  for (auto& arm : *three.mutable_arms()) arm.set_weight(.25);
  *three.add_arms() = three.arms(0);
  three.mutable_arms(2)->set_name("third");
  three.mutable_arms(2)->set_weight(.5);
  CHECK_THAT(refusal(three), Catch::StartsWith("arms: chance says which arm picks first"));
  ExperimentRecord mean = Bandit();
  mean.mutable_metrics(0)->set_kind(storage::MetricRecord::MEAN);
  CHECK_THAT(refusal(mean), Catch::Contains("is no PROPORTION"));
  ExperimentRecord floor = Bandit();
  floor.set_bandit_floor(.6);
  CHECK_THAT(refusal(floor), Catch::StartsWith("bandit_floor is 0.6"));
  ExperimentRecord split = SmallExperiment("x");
  split.set_bandit_floor(.1);
  CHECK_THAT(refusal(split), Catch::StartsWith("bandit_floor and bandit_update"));
}

TEST_CASE_METHOD(ExperimentsFixture,
                 "A bandit moves its shares to what does well, logs them, and keeps them") {
  CreateAndStart(Bandit());
  const auto serve = [&](int from, int until) {
    std::map<int, int> arms;
    for (int i = from; i < until; ++i) {
      const std::string user = absl::StrCat("u", i);
      const int arm = ServeUser(user);
      REQUIRE(arm >= 0);
      ++arms[arm];
      // One in ten succeeds in the control, nine in ten in the new arm.
      if (i % 10 < (arm == 1 ? 9 : 1)) Write({Click(user, absl::Seconds(1))});
    }
    return arms;
  };
  const auto first = serve(0, 400);
  CHECK(first.at(0) > 150);
  CHECK(first.at(1) > 150);
  clock_.Set(clock_.Now() + absl::Minutes(2));
  REQUIRE(experiments_->Tick().ok());
  ExperimentReport report = Report("x");
  REQUIRE(report.bandit.size() == 2);
  CHECK(report.bandit[0].share + report.bandit[1].share == Approx(1));
  // Of two arms the better is played half the time by itself, and the other is its challenger the other half.
  CHECK(report.bandit[1].share == Approx(.5).margin(.01));
  CHECK(report.bandit[1].mean > report.bandit[0].mean + .5);
  CHECK(report.evidence.winner == "new");
  CHECK(report.evidence.sample_ratio.p_value == 1);

  // A third arm that does badly falls to the floor.
  ExperimentRecord more = Bandit();
  more.set_id("y");
  for (auto& arm : *more.mutable_arms()) arm.set_weight(1.0 / 3);
  *more.add_arms() = more.arms(1);
  more.mutable_arms(2)->set_name("third");
  CreateAndStart(more);
  std::map<std::string, int> arms;
  for (int i = 0; i < 600; ++i) {
    const std::string user = absl::StrCat("w", i);
    const auto assigned = experiments_->Assign({.user_id = user});
    for (const AssignedArm& arm : assigned.arms) {
      if (arm.experiment->id != "y") continue;
      REQUIRE(experiments_->RecordExposure(assigned, arm, {}).ok());
      if (i % 10 < (arm.arm == 2 ? 0 : 5)) Write({Click(user, absl::Seconds(1))});
    }
  }
  clock_.Set(clock_.Now() + absl::Minutes(2));
  REQUIRE(experiments_->Tick().ok());
  report = Report("y");
  CHECK(report.bandit[2].share == Approx(.01).margin(.001));
  Restart();
  CHECK(Report("y").bandit[2].share == report.bandit[2].share);
  // Who comes now is drawn, and logged, with the share.
  bool seen = false;
  for (int i = 0; i < 3000 && !seen; ++i) {
    const std::string user = absl::StrCat("z", i);
    const auto assigned = experiments_->Assign({.user_id = user});
    for (const AssignedArm& arm : assigned.arms) {
      if (arm.experiment->id != "y" || arm.arm != 2) continue;
      REQUIRE(experiments_->RecordExposure(assigned, arm, {}).ok());
      CHECK(store_->GetExposure(scope_, "y", "u:" + user)->propensity() == Approx(report.bandit[2].share));
      seen = true;
    }
  }
  CHECK(seen);
}

TEST_CASE_METHOD(ExperimentsFixture, "Sums of the shadow and looks over time survive a restart") {
  ExperimentRecord record = SmallExperiment("x");
  Create(record);
  Decide("x", {.action = Action::kStartShadow});
  const ShadowAnswer served{.measured = {.latency = absl::Milliseconds(4)}, .items = {1, 2, 3}};
  const ShadowAnswer copy{.measured = {.latency = absl::Milliseconds(6)}, .items = {3, 2, 1}};
  for (int i = 0; i < 5; ++i) experiments_->RecordShadow("x", served, {&copy, 1});
  experiments_->SkipShadow("x");
  REQUIRE(experiments_->Tick().ok());
  Restart();
  ExperimentReport report = Report("x");
  REQUIRE(report.shadow.size() == 1);
  CHECK(report.shadow[0].copies == 5);
  CHECK(report.shadow[0].skipped == 1);
  CHECK(report.shadow[0].rank_correlation == -1);
  CHECK(report.shadow[0].latency_ms == 6);
  CHECK(report.shadow[0].served_latency_ms == 4);

  Decide("x", {.action = Action::kRamp}, "a test");
  for (int i = 0; i < 20; ++i) ServeUser(absl::StrCat("u", i));
  REQUIRE(experiments_->Tick().ok());
  clock_.Set(clock_.Now() + absl::Seconds(11));
  REQUIRE(experiments_->Tick().ok());
  REQUIRE(experiments_->Tick().ok());  // too soon for another
  CHECK(Report("x").looks.looks_size() == 2);
  Restart();
  report = Report("x");
  REQUIRE(report.looks.looks_size() == 2);
  CHECK(report.looks.looks(1).time_us() - report.looks.looks(0).time_us() == 11 * 1000 * 1000);
  CHECK(report.looks.looks(0).arms(0).control_units() + report.looks.looks(0).arms(0).treatment_units() ==
        20);
}

TEST_CASE_METHOD(ExperimentsFixture,
                 "Layers: overlaps are refused, holdouts hold, and one that is used stays") {
  storage::LayerRecord layer;
  layer.set_id("ranking");
  layer.set_holdout(.1);
  REQUIRE(experiments_->PutLayer(layer).ok());
  ExperimentRecord first = SmallExperiment("a"), second = SmallExperiment("b");
  first.set_layer("ranking");
  first.set_slot_end(.6);
  second.set_layer("ranking");
  second.set_slot_begin(.5);
  second.set_slot_end(1);
  CreateAndStart(first);
  const absl::Status overlap = experiments_->Create(second, "ann").status();
  CHECK(absl::IsInvalidArgument(overlap));
  CHECK_THAT(std::string(overlap.message()), Catch::Contains("overlaps [0, 0.6) of experiment 'a'"));
  second.set_slot_begin(.6);
  CreateAndStart(second);
  int in_first = 0, in_second = 0, held = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string user = absl::StrCat("u", i);
    const auto assigned = experiments_->Assign({.user_id = user});
    REQUIRE(assigned.arms.size() == 2);
    const bool a = assigned.arms[0].arm >= 0, b = assigned.arms[1].arm >= 0;
    CHECK_FALSE((a && b));
    in_first += a, in_second += b;
    held += assigned.arms[0].reason == AssignmentReason::kHeldOut;
  }
  CHECK(held == Approx(200).margin(60));
  CHECK(in_first == Approx(.54 * 2000).margin(100));
  CHECK(in_second == Approx(.36 * 2000).margin(100));
  const absl::Status used = experiments_->DeleteLayer("ranking");
  CHECK(absl::IsFailedPrecondition(used));
  CHECK_THAT(std::string(used.message()), Catch::Contains("'a', 'b'"));
  Decide("a", {.action = Action::kEnd});
  Decide("b", {.action = Action::kEnd});
  CHECK(experiments_->DeleteLayer("ranking").ok());
  CHECK(absl::IsNotFound(experiments_->DeleteLayer("ranking")));
}

TEST_CASE_METHOD(ExperimentsFixture, "What was logged tells what one arm for everybody would have earned") {
  CreateAndStart(Bandit());
  for (int i = 0; i < 300; ++i) {
    const std::string user = absl::StrCat("u", i);
    if (ServeUser(user) == 1 && i % 2 == 0) Write({Click(user, absl::Seconds(1))});
  }
  const auto answer = experiments_->EvaluatePolicy("x", {.shares = {{"new", 1}}});
  REQUIRE(answer.ok());
  CHECK(answer->units == 300);
  for (const PolicyEstimate& one : answer->estimates) CHECK(one.estimate.value == Approx(.5).margin(.15));
  CHECK_THAT(std::string(experiments_->EvaluatePolicy("x", {.shares = {{"new", .5}}}).status().message()),
             Catch::StartsWith("shares: add up to 0.5"));
  CHECK_THAT(std::string(experiments_->EvaluatePolicy("x", {.shares = {{"newer", 1}}}).status().message()),
             Catch::StartsWith("shares: names an arm that is not there"));
  CHECK_THAT(
      std::string(
          experiments_->EvaluatePolicy("x", {.shares = {{"new", 1}}, .metric = "sales"}).status().message()),
      Catch::StartsWith("metric: 'sales'"));
}

}  // namespace
}  // namespace waymark::tests
