// Experiments over a store in a folder of its own, and short ways to run one.
#pragma once
#include <memory>
#include <string>

#include "experiment/experiments.h"
#include "tests/store/fixture.h"

namespace waymark::tests {

inline constexpr int64_t kDayUs = int64_t{24} * 3600 * 1000 * 1000;

// Two arms on releases r0 and r1; clicks within 7 days are the primary metric.
inline storage::ExperimentRecord SmallExperiment(const std::string& id) {
  storage::ExperimentRecord record;
  record.set_id(id);
  record.set_hypothesis("the new ranker brings more clicks");
  for (int i = 0; i < 2; ++i) {
    storage::ArmRecord& arm = *record.add_arms();
    arm.set_name(i == 0 ? "control" : "new");
    arm.set_release_id("r" + std::to_string(i));
    arm.set_weight(.5);
  }
  storage::MetricRecord& clicks = *record.add_metrics();
  clicks.set_name("clicks");
  clicks.set_kind(storage::MetricRecord::MEAN);
  clicks.mutable_events()->set_type("click");
  clicks.set_window_us(7 * kDayUs);
  record.set_primary_metric("clicks");
  record.add_ramp(1);
  record.set_min_exposures(1);
  return record;
}

class ExperimentsFixture : public StoreFixture {
 public:
  ExperimentsFixture() {
    for (const char* id : {"r0", "r1"}) {
      storage::ReleaseRecord release;
      release.set_id(id);
      release.set_ranker_sha256(std::string("sha of ") + id);
      REQUIRE(store_->PutRelease(scope_, release).ok());
    }
    OpenExperiments();
  }

  void OpenExperiments() {
    experiments_.reset();
    auto opened = Experiments::Open(store_.get(), scope_, {.clock = &clock_});
    REQUIRE(opened.status() == absl::OkStatus());
    experiments_ = *std::move(opened);
  }
  // Everything as after a restart.
  void Restart() {
    experiments_.reset();
    Reopen();
    OpenExperiments();
  }

  storage::ExperimentRecord Create(const storage::ExperimentRecord& record) {
    auto made = experiments_->Create(record, "ann");
    INFO(made.status().ToString());
    REQUIRE(made.ok());
    return *std::move(made);
  }
  // Thread-safe: checks nothing.
  absl::StatusOr<storage::ExperimentRecord> TryDecide(const std::string& id, const Move& move,
                                                      const std::string& override_reason = "",
                                                      int64_t revision = 0) {
    DecisionRequest request;
    request.move = move;
    request.by = "ann";
    request.reason = "a test";
    request.override_reason = override_reason;
    request.expected_revision = revision;
    return experiments_->Decide(id, request);
  }
  storage::ExperimentRecord Decide(const std::string& id, const Move& move,
                                   const std::string& override_reason = "") {
    auto decided = TryDecide(id, move, override_reason);
    INFO(decided.status().ToString());
    REQUIRE(decided.ok());
    return *std::move(decided);
  }
  void CreateAndStart(const storage::ExperimentRecord& record) {
    Create(record);
    Decide(record.id(), {.action = Action::kStart});
  }

  // Assigns and exposes in all experiments. The arm of the first; -1: none.
  int Serve(const AssignmentRequest& request, const ExposureContext& about = {}) {
    const auto assigned = experiments_->Assign(request);
    for (const AssignedArm& arm : assigned.arms) {
      REQUIRE(experiments_->RecordExposure(assigned, arm, about).ok());
    }
    return assigned.arms.empty() ? -1 : assigned.arms[0].arm;
  }
  int ServeUser(const std::string& user) { return Serve({.user_id = user}); }

  WriteEvent Click(const std::string& who, absl::Duration after = absl::Hours(1)) {
    WriteEvent event = Event(who, "item", 0);
    event.time = clock_.Now() + after;
    return event;
  }
  ExperimentReport Report(const std::string& id) {
    auto report = experiments_->Report(id);
    INFO(report.status().ToString());
    REQUIRE(report.ok());
    return *std::move(report);
  }

  std::unique_ptr<Experiments> experiments_;
};

}  // namespace waymark::tests
