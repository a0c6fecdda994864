// The experiments of one collection: who sees which arm, who has seen it, what came of it, what is decided.
//
//   auto experiments = Experiments::Open(&store, scope, {});
//   auto assigned = (*experiments)->Assign({.user_id = "u1", .context = &context});     // in each request
//   for (const AssignedArm& arm : assigned.arms) (*experiments)->RecordExposure(assigned, arm, about);
//   (*experiments)->RecordServed(assigned, answer);
//   (*experiments)->Tick();                                                             // now and then
//   auto report = (*experiments)->Report("ranker-7");
//
// Records, decisions and exposures are durable in the store; outcomes are derived from its log. Thread-safe;
// Assign, RecordExposure and RecordServed never wait for the log.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "experiment/assignment/assignment.h"
#include "experiment/decisions/advice.h"
#include "experiment/decisions/guardrail.h"
#include "experiment/decisions/state_machine.h"
#include "experiment/interleaving/team_draft.h"
#include "experiment/offpolicy/unit_policy.h"
#include "experiment/report/report.h"
#include "experiment/shadow/agreement.h"
#include "store/store.h"

namespace waymark {

struct ExperimentsOptions {
  const Clock* clock = Clock::Real();
  // What an exposure's past is looked for in: lines of the unit's history.
  size_t history_limit = 500;
};

// A decision as somebody asks for it.
struct DecisionRequest {
  Move move;
  std::string by, reason;
  // Sets aside conditions that do not hold; recorded.
  std::string override_reason;
  int64_t expected_revision = 0;  // ABORTED when another one is there; 0: any
};

// What of a request goes into an exposure.
struct ExposureContext {
  std::string_view request_id, surface;
  const google::protobuf::Struct* context = nullptr;
};

// A list that both arms have made.
struct InterleavedAnswer {
  std::string reader;  // key of whom it was shown to: «u:», «v:» or «s:» and the id; empty: nobody is known
  std::vector<DraftedItem> places;
};

// How an experiment's arms might have been given out instead.
struct PolicyQuestion {
  std::map<std::string, double> shares;  // arm -> share; they add up to 1
  std::string metric;                    // empty: the primary one
  double weight_cap = 0;                 // 0: none
};

class Experiments {
 public:
  // Reads what is enrolled, and the log when an experiment has been started. `store` lives longer.
  static absl::StatusOr<std::unique_ptr<Experiments>> Open(Store* store, Scope scope,
                                                           const ExperimentsOptions& options);
  ~Experiments();
  Experiments(const Experiments&) = delete;

  // --- what is compared. INVALID_ARGUMENT and FAILED_PRECONDITION name the field; ALREADY_EXISTS; ABORTED:
  // another revision is there, somebody was faster.
  absl::StatusOr<storage::ExperimentRecord> Create(storage::ExperimentRecord record, const std::string& by);
  absl::StatusOr<storage::ExperimentRecord> Update(storage::ExperimentRecord record, const std::string& by,
                                                   int64_t expected_revision);
  // FAILED_PRECONDITION while it is live. Its decisions stay.
  absl::Status Delete(const std::string& id, const std::string& by, int64_t expected_revision);
  absl::StatusOr<storage::ExperimentRecord> Get(const std::string& id) const;
  std::vector<storage::ExperimentRecord> List() const;
  absl::Status PutLayer(const storage::LayerRecord& layer);
  // NOT_FOUND; FAILED_PRECONDITION: an experiment that has not ended is in it.
  absl::Status DeleteLayer(const std::string& id);
  std::vector<storage::LayerRecord> Layers() const;

  // --- what is decided. FAILED_PRECONDITION lists the conditions that do not hold.
  absl::StatusOr<storage::ExperimentRecord> Decide(const std::string& id, const DecisionRequest& request);
  std::vector<storage::DecisionRecord> Decisions(const std::string& id) const;  // oldest first
  // What its figures call for. FAILED_PRECONDITION: a draft.
  absl::StatusOr<Advice> Advise(const std::string& id);
  // Follows the log, rolls back what violates a guardrail, takes the next step of automatic ramps. What was
  // decided.
  absl::StatusOr<std::vector<storage::DecisionRecord>> Tick();
  // Rolls back what violates a guardrail, from what was measured alone: it waits for no log. What was
  // decided.
  std::vector<storage::DecisionRecord> RollBackViolated();
  // Decided, but not activated yet: the caller activates what ReleaseToActivate says, then acknowledges.
  // Asked after each decision and after a start, so that a kill in between loses nothing.
  std::vector<storage::ExperimentRecord> PendingReleases() const;
  // `decided` as PendingReleases gave it. ABORTED: somebody has decided since, so ask again.
  absl::Status AcknowledgeRelease(storage::ExperimentRecord decided);

  // --- requests
  struct Plan;
  struct Assignments {
    std::shared_ptr<const Plan> plan;  // keeps what `arms` points at
    std::vector<AssignedArm> arms;     // of each experiment that runs
  };
  bool any() const;  // whether an experiment runs
  Assignments Assign(const AssignmentRequest& request) const;
  // Whether experiment -> arm, as a tester asks for it, can be had. INVALID_ARGUMENT says which there are.
  absl::Status CheckOverrides(const std::map<std::string, std::string>& overrides) const;
  // The first time that the arm could matter to the unit enrols it; later calls do nothing. In the store when
  // it answers.
  absl::Status RecordExposure(const Assignments& assigned, const AssignedArm& arm,
                              const ExposureContext& about);
  // The same of many units, with one write for all that are new. After an error none of those is enrolled.
  struct Exposed {
    const Assignments* assigned;
    const AssignedArm* arm;  // of `assigned`
    ExposureContext about;
  };
  absl::Status RecordExposures(absl::Span<const Exposed> exposed);
  // Of an arm that is Interleaved(): the list that its request was answered with. In the store when it
  // answers.
  absl::Status RecordInterleaved(const Assignments& assigned, const AssignedArm& arm,
                                 const ExposureContext& about, const InterleavedAnswer& answer);
  // What was measured of the answer. True: a guardrail looks violated, call RollBackViolated.
  bool RecordServed(const Assignments& assigned, const ServedAnswer& answer);

  // --- shadow: releases that score copies of requests which others have answered
  struct Shadow {
    std::string experiment;
    std::vector<std::string> releases;  // [arm - 1], of the treatments
  };
  bool any_shadow() const;
  // Those that a request with this context is for.
  std::vector<Shadow> ShadowsOf(const google::protobuf::Struct& context) const;
  // `copies`: [arm - 1]. True: a guardrail looks violated, call RollBackViolated.
  bool RecordShadow(const std::string& experiment, const ShadowAnswer& served,
                    absl::Span<const ShadowAnswer> copies);
  // A request that there was no time to copy.
  void SkipShadow(const std::string& experiment);

  // --- what came of it
  // Takes in what the log has got since.
  absl::Status CatchUp();
  // Catches up first. FAILED_PRECONDITION: a draft.
  absl::StatusOr<ExperimentReport> Report(const std::string& id);
  // INVALID_ARGUMENT names the field; FAILED_PRECONDITION: a draft, an interleaved experiment, or one without
  // units.
  absl::StatusOr<PolicyAnswer> EvaluatePolicy(const std::string& id, const PolicyQuestion& question);
  // Experiments whose outcomes are held; one that ended a day ago is not, a report of it reads the log.
  size_t InMemory() const;
  // Erasure: the unit («u:ann») is in no experiment any more.
  absl::Status Forget(const std::string& unit);

 private:
  class Impl;
  explicit Experiments(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace waymark
