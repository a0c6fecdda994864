// The experiments of every open collection, and what keeps them going beside requests: a thread that follows
// what came of them, makes the decisions that make themselves, and activates what was decided.
//
//   ExperimentHost host(engine);
//   host.Start();
//   if (HostedExperiments* hosted = host.Find(collection->scope())) hosted->experiments->Assign(...);
//   auto hosted = host.Open(collection);  // to create one
#pragma once
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "experiment/experiments.h"
#include "pipeline/engine.h"
#include "serving/shadow_runner.h"

namespace waymark {

struct HostedExperiments {
  Collection* collection = nullptr;
  std::unique_ptr<Experiments> experiments;
  std::mutex settling;
  std::set<std::string> kept;                       // releases, under settling
  absl::Time next_settling = absl::InfinitePast();  // of upkeep's thread
};

// Thread-safe.
class ExperimentHost {
 public:
  // The engine must outlive the host.
  explicit ExperimentHost(Engine* engine)
      : engine_(engine), shadow_runner_([this](HostedExperiments* hosted) { RollBackViolated(hosted); }) {}
  ~ExperimentHost() { Stop(); }

  // Opens the experiments that there are, with the releases of their arms, then keeps them up on a thread of
  // its own. What does not open is logged and tried again; its collection serves without experiments.
  void Start();
  void Stop();

  // For requests: null where nothing has been opened yet.
  HostedExperiments* Find(Scope scope) const;
  absl::StatusOr<HostedExperiments*> Open(Collection* collection);

  // Loads the releases of the record's arms beside the active one. An error names the arm and what is wrong.
  absl::Status LoadArms(HostedExperiments* hosted, const storage::ExperimentRecord& record);
  // After a decision: activates what it says, and holds the releases that live arms are served with.
  // What fails is logged; false: upkeep tries it again.
  bool Settle(HostedExperiments* hosted);
  // A guardrail looks violated: rolled back here and now, however far upkeep is behind with the log.
  void RollBackViolated(HostedExperiments* hosted);
  ShadowRunner& shadow_runner() { return shadow_runner_; }

 private:
  void Run();
  void Upkeep();
  void Wake();
  // Both under `settling`.
  bool ActivateDecided(HostedExperiments* hosted);
  // Of an experiment on a content slot.
  static absl::Status ActivateSlotVariant(HostedExperiments* hosted, const storage::ExperimentRecord& record);
  std::map<std::string, absl::Status> Keep(HostedExperiments* hosted, const std::set<std::string>& more);

  Engine* engine_;
  mutable std::shared_mutex mutex_;
  std::map<Scope, std::unique_ptr<HostedExperiments>> hosted_;
  std::mutex opening_;
  std::map<Scope, absl::Time> next_opening_;  // of upkeep's thread: what did not open

  std::mutex thread_mutex_;
  std::condition_variable wake_;
  bool stop_ = false, woken_ = false;  // under thread_mutex_
  std::thread thread_;
  ShadowRunner shadow_runner_;
};

}  // namespace waymark
