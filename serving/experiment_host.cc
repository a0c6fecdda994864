#include "serving/experiment_host.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace waymark {
namespace {

constexpr std::chrono::seconds kUpkeepInterval(1);
// Between two tries of what failed: loading a package reads all of it.
constexpr absl::Duration kRetry = absl::Seconds(30);

std::string Named(const Collection& collection) {
  return absl::StrCat(collection.name().tenant, "/", collection.name().collection);
}

std::string ReasonOf(const storage::ExperimentRecord& record) {
  return record.state() == storage::ExperimentRecord::ROLLED_BACK
             ? absl::StrCat("experiment ", record.id(), " rolled back ", record.winner())
             : absl::StrCat("experiment ", record.id(), " released ", record.winner());
}

void LogDecisions(const Collection& collection, const std::vector<storage::DecisionRecord>& decisions) {
  for (const storage::DecisionRecord& decision : decisions) {
    spdlog::info("experiment_decided collection={} experiment={} action=\"{}\" by={} reason=\"{}\"",
                 Named(collection), decision.experiment(), decision.action(), decision.by(),
                 decision.reason());
  }
}

void AddReleases(const storage::ExperimentRecord& record, std::set<std::string>* ids) {
  for (const storage::ArmRecord& arm : record.arms()) {
    if (!arm.release_id().empty()) ids->insert(arm.release_id());
  }
}

}  // namespace

void ExperimentHost::Start() {
  Upkeep();
  thread_ = std::thread([this] { Run(); });
  shadow_runner_.Start();
}

void ExperimentHost::Stop() {
  shadow_runner_.Stop();
  {
    std::lock_guard<std::mutex> lock(thread_mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ExperimentHost::RollBackViolated(HostedExperiments* hosted) {
  LogDecisions(*hosted->collection, hosted->experiments->RollBackViolated());
  Wake();
}

void ExperimentHost::Wake() {
  {
    std::lock_guard<std::mutex> lock(thread_mutex_);
    woken_ = true;
  }
  wake_.notify_all();
}

void ExperimentHost::Run() {
  while (true) {
    {
      std::unique_lock<std::mutex> lock(thread_mutex_);
      wake_.wait_for(lock, kUpkeepInterval, [this] { return stop_ || woken_; });
      if (stop_) return;
      woken_ = false;
    }
    Upkeep();
  }
}

void ExperimentHost::Upkeep() {
  for (Collection* open : engine_->Collections()) {
    const absl::Time now = absl::Now();
    const auto later = next_opening_.find(open->scope());
    if (later != next_opening_.end() && now < later->second) continue;
    auto collection = engine_->OpenCollection(open->name(), /*create=*/false);
    auto opened =
        collection.ok() ? Open(*collection) : absl::StatusOr<HostedExperiments*>(collection.status());
    if (!opened.ok()) {
      spdlog::error("experiments_not_opened collection={} reason=\"{}\" effect=\"it serves without them\"",
                    Named(*open), std::string(opened.status().message()));
      next_opening_[open->scope()] = now + kRetry;
      continue;
    }
    HostedExperiments* hosted = *opened;
    auto decided = hosted->experiments->Tick();
    if (!decided.ok()) {
      spdlog::error("experiments_not_followed collection={} reason=\"{}\"", Named(*open),
                    std::string(decided.status().message()));
    } else {
      LogDecisions(*open, *decided);
    }
    if (now < hosted->next_settling) continue;
    hosted->next_settling = Settle(hosted) ? absl::InfinitePast() : now + kRetry;
  }
}

HostedExperiments* ExperimentHost::Find(Scope scope) const {
  std::shared_lock<std::shared_mutex> lock(mutex_);
  const auto found = hosted_.find(scope);
  return found == hosted_.end() ? nullptr : found->second.get();
}

absl::StatusOr<HostedExperiments*> ExperimentHost::Open(Collection* collection) {
  if (HostedExperiments* hosted = Find(collection->scope())) return hosted;
  std::lock_guard<std::mutex> opening(opening_);
  if (HostedExperiments* hosted = Find(collection->scope())) return hosted;
  auto experiments = Experiments::Open(&engine_->store(), collection->scope(), {});
  if (!experiments.ok()) return experiments.status();
  auto made = std::make_unique<HostedExperiments>();
  made->collection = collection;
  made->experiments = *std::move(experiments);
  std::unique_lock<std::shared_mutex> lock(mutex_);
  return (hosted_[collection->scope()] = std::move(made)).get();
}

std::map<std::string, absl::Status> ExperimentHost::Keep(HostedExperiments* hosted,
                                                         const std::set<std::string>& more) {
  std::set<std::string> wanted = more;
  for (const storage::ExperimentRecord& record : hosted->experiments->List()) {
    if (IsLive(record.state()) || record.release_pending()) AddReleases(record, &wanted);
  }
  if (wanted == hosted->kept) return {};
  std::map<std::string, absl::Status> failed = hosted->collection->KeepReleases(wanted);
  for (const auto& [id, status] : failed) wanted.erase(id);
  hosted->kept = std::move(wanted);
  return failed;
}

absl::Status ExperimentHost::LoadArms(HostedExperiments* hosted, const storage::ExperimentRecord& record) {
  std::set<std::string> releases;
  AddReleases(record, &releases);
  std::lock_guard<std::mutex> lock(hosted->settling);
  const std::map<std::string, absl::Status> failed = Keep(hosted, releases);
  for (int i = 0; i < record.arms_size(); ++i) {
    const auto found = failed.find(record.arms(i).release_id());
    if (found == failed.end()) continue;
    const bool full = absl::IsResourceExhausted(found->second);
    return absl::Status(
        full ? absl::StatusCode::kResourceExhausted : absl::StatusCode::kFailedPrecondition,
        absl::StrCat("arms[", i, "].release '", found->first, "' does not load, so experiment '", record.id(),
                     "' cannot start: ", std::string(found->second.message())));
  }
  return absl::OkStatus();
}

absl::Status ExperimentHost::ActivateSlotVariant(HostedExperiments* hosted,
                                                 const storage::ExperimentRecord& record) {
  const auto control = ParseSlotVariantName(record.arms(0).slot_variant());
  if (!control) return absl::OkStatus();
  LiveCuration& curation = hosted->collection->curation();
  const auto snapshot = curation.snapshot();
  const CompiledSlot* slot = snapshot->slots.Find(control->slot);
  const bool shows = slot != nullptr && !slot->shown.empty();
  const auto wanted = SlotVariantToActivate(record, shows ? slot->shown[0]->id : "");
  if (!wanted) return absl::OkStatus();
  return curation
      .ActivateVariant(
          {wanted->slot, wanted->variant, absl::StrCat("experiment ", record.id()), ReasonOf(record), {}})
      .status();
}

bool ExperimentHost::ActivateDecided(HostedExperiments* hosted) {
  bool done = true;
  for (const storage::ExperimentRecord& record : hosted->experiments->PendingReleases()) {
    const auto release = ReleaseToActivate(record, hosted->collection->active_release());
    absl::Status status = ActivateSlotVariant(hosted, record);
    if (release) status = hosted->collection->ActivateRelease(*release, ReasonOf(record));
    if (status.ok()) status = hosted->experiments->AcknowledgeRelease(record);
    // Somebody has decided meanwhile, and settles that next.
    if (status.ok() || absl::IsAborted(status)) continue;
    done = false;
    spdlog::error("decision_not_activated collection={} experiment={} release={} reason=\"{}\"",
                  Named(*hosted->collection), record.id(), release.value_or(""),
                  std::string(status.message()));
  }
  return done;
}

bool ExperimentHost::Settle(HostedExperiments* hosted) {
  std::lock_guard<std::mutex> lock(hosted->settling);
  bool done = ActivateDecided(hosted);
  for (const auto& [id, status] : Keep(hosted, {})) {
    done = false;
    spdlog::error("arm_not_loaded collection={} release={} reason=\"{}\" serving=\"the active release\"",
                  Named(*hosted->collection), id, std::string(status.message()));
  }
  return done;
}

}  // namespace waymark
