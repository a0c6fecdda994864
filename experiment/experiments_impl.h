// What Experiments holds; its methods lie by subject in experiments*.cc. For these files only.
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "experiment/experiments.h"
#include "experiment/interleaving/interleaved_lists.h"
#include "experiment/outcomes/enrolments.h"
#include "experiment/outcomes/outcomes.h"

namespace waymark {

class StorePeople : public People {
 public:
  StorePeople(const Store* store, Scope scope) : store_(store), scope_(scope) {}
  std::optional<UserNumber> NumberOf(const std::string& unit) const override;
  std::string UnitOf(UserNumber number) const override;

 private:
  const Store* store_;
  Scope scope_;
};

// An experiment that has been started.
struct LiveExperiment {
  std::string id;
  Enrolments enrolments;
  std::unique_ptr<Outcomes> outcomes;       // under follow_mutex
  std::unique_ptr<InterleavedLists> lists;  // under follow_mutex; null: each unit sees one arm
  storage::LooksRecord looks;               // under follow_mutex
  std::mutex new_lists_mutex;
  std::vector<storage::ExposureRecord> new_lists;  // that `lists` has not got yet
  std::mutex served_mutex;
  storage::ServedSumsRecord served;  // under served_mutex
  bool served_changed = false;
  std::vector<ShadowSums> shadow;                // [arm], under served_mutex
  std::vector<storage::ReleaseRecord> releases;  // [arm]; does not change
};

struct Experiments::Plan {
  AssignmentPlan plan;
  struct Entry {
    std::shared_ptr<LiveExperiment> live;
    storage::ExperimentRecord record;
  };
  absl::flat_hash_map<const ExperimentPlan*, Entry> entries;
  struct Shadow {
    Entry entry;
    std::shared_ptr<const ExperimentPlan> plan;
  };
  std::vector<Shadow> shadows;
};

class Experiments::Impl {
 public:
  Impl(Store* the_store, Scope the_scope, const ExperimentsOptions& given)
      : store(the_store), scope(the_scope), options(given), people(the_store, the_scope) {}

  // experiments.cc
  absl::Status Load();
  absl::StatusOr<std::shared_ptr<LiveExperiment>> MakeLive(const storage::ExperimentRecord& record);
  // Without its exposures and what they did.
  absl::StatusOr<std::shared_ptr<LiveExperiment>> MakeEmpty(const storage::ExperimentRecord& record);
  static void SetServed(const storage::ServedSumsRecord& sums, LiveExperiment* one);
  // Makes the record the one that requests see, unless a newer one is there.
  absl::Status Install(const storage::ExperimentRecord& record);
  void RebuildPlan();  // under mutex
  std::shared_ptr<const ExperimentPlan> PlanOf(const storage::ExperimentRecord& record) const;
  // The shares that arms are drawn with: of a bandit as they are now, else the weights. Under mutex.
  std::vector<double> SharesOf(const storage::ExperimentRecord& record) const;
  std::shared_ptr<const Plan> CurrentPlan() const;
  std::shared_ptr<LiveExperiment> FindLive(const std::string& id) const;
  std::vector<std::shared_ptr<LiveExperiment>> AllLive() const;
  absl::Status Check(const storage::ExperimentRecord& record) const;

  // experiments_decisions.cc
  absl::StatusOr<storage::ExperimentRecord> Decide(const std::string& id, const DecisionRequest& request,
                                                   const Evidence* known);
  absl::StatusOr<Evidence> EvidenceOf(const storage::ExperimentRecord& record);
  // What guardrails are held against: answers, and in the shadow copies.
  struct Measures {
    storage::ServedSumsRecord served;
    std::vector<ShadowSums> shadow;
    std::vector<double> shares;  // of a bandit; empty: none yet
  };
  static Measures MeasuresOf(LiveExperiment& live, const storage::ExperimentRecord& record);
  absl::Status SaveServed();
  // experiments_upkeep.cc
  absl::Status TakeLook(LiveExperiment& live, const storage::ExperimentRecord& record);
  // Moves a bandit's shares when it is time.
  absl::Status MoveShares(LiveExperiment& live, const storage::ExperimentRecord& record);

  // experiments_log.cc; under follow_mutex
  absl::Status CatchUp();
  absl::Status TakeNews(LiveExperiment& live, LogOffset read_until);
  void ReadPast(LiveExperiment& live, const storage::ExposureRecord& exposure, OutcomeTable::Row row,
                LogOffset read_until);
  // For `all`, from *from on, which it moves. Users who were erased are added to `erased` unless it is null.
  absl::Status ReadLog(LogOffset end, const std::vector<std::shared_ptr<LiveExperiment>>& all,
                       LogOffset* from, absl::flat_hash_set<UserNumber>* erased);
  absl::Status Erase(LiveExperiment& live, UserNumber user);
  // Of the reader with this number, or this key.
  absl::Status EraseLists(const std::string& id, UserNumber user, const std::string& reader);
  absl::Status FollowJoins(LiveExperiment& live);
  absl::Status MarkConflict(LiveExperiment& live, const std::string& unit);
  // Makes last that the visitor, enrolled beside its user in the same arm, is one unit with it.
  absl::Status JoinSame(LiveExperiment& live, const std::string& visitor, const std::string& user);
  ReportInput InputOf(const LiveExperiment& live, const storage::ExperimentRecord& record,
                      const Measures& measures) const;

  // experiments_retired.cc
  bool IsOver(const storage::ExperimentRecord& record) const;
  absl::Status RetireEnded();
  absl::Status NumberExposures(const std::string& id);
  // Under follow_mutex, `position` being read.
  absl::Status FollowErasures(const absl::flat_hash_set<UserNumber>& erased);
  absl::Status EraseRetired(const absl::flat_hash_set<UserNumber>& users);
  absl::Status SaveRetired();
  // Of a retired experiment, under again_mutex.
  absl::StatusOr<std::shared_ptr<LiveExperiment>> ReadAgain(const storage::ExperimentRecord& record);
  // Calls `use` with what the log says by now. Not of a draft.
  absl::Status WithFigures(const storage::ExperimentRecord& record,
                           const std::function<void(LiveExperiment&)>& use);

  Store* const store;
  const Scope scope;
  const ExperimentsOptions options;
  const StorePeople people;

  mutable std::shared_mutex mutex;
  std::map<std::string, storage::ExperimentRecord> records;
  std::map<std::string, std::shared_ptr<LiveExperiment>> live;
  std::shared_ptr<const Plan> plan;
  // Ended, and no longer in `live` -> the offset up to which erasures have reached it. Written under both
  // mutexes.
  std::map<std::string, LogOffset> retired;

  // One follower of the log at a time. Taken before `mutex`.
  std::mutex follow_mutex;
  // Between the check of a layer or an experiment against the others and its writing. Taken first.
  std::mutex defining_mutex;
  LogOffset position = 0;

  // The retired experiment that was asked for last.
  std::mutex again_mutex;
  struct Again {
    std::shared_ptr<LiveExperiment> live;
    int64_t create_time_us = 0;
    uint64_t forgotten = 0;
    LogOffset position = 0;
  } again;
  std::atomic<uint64_t> forgotten = 0;  // users whom somebody asked to forget
};

}  // namespace waymark
