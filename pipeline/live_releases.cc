// LiveCollection's models and releases: what is registered, which release serves, and going back.
#include <spdlog/spdlog.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "pipeline/live_collection.h"

namespace waymark {

absl::Status LiveCollection::LoadActive() {
  const storage::ActivationRecord activations = store_->Activations(scope_);
  std::string id = activations.activations().empty() ? "" : activations.activations().rbegin()->release_id();
  auto release = id.empty() ? loader_->Unreleased() : loader_->Load(id);
  UnloadedRelease unloaded;
  if (!release.ok()) {
    // Answers keep coming from the weighted sum; `waymark status` and the list of releases say so.
    unloaded = {id, std::string(release.status().message())};
    spdlog::error("release_not_loaded collection={}/{} release={} reason=\"{}\" serving=weighted-sum",
                  name_.tenant, name_.collection, id, unloaded.reason);
    release = loader_->Unreleased();
    if (!release.ok()) return release.status();
  }
  Publish(*std::move(release), true, std::move(unloaded));
  return absl::OkStatus();
}

void LiveCollection::Publish(std::shared_ptr<const LoadedRelease> release, bool active,
                             UnloadedRelease unloaded) {
  auto next = std::make_shared<Snapshot>();
  std::shared_ptr<const Snapshot> previous;
  std::lock_guard<std::mutex> lock(snapshot_mutex_);
  if (active) {
    next->releases = kept_;
    if (snapshot_ != nullptr && !snapshot_->active->record.id().empty())
      ready_.insert(ready_.begin(), snapshot_->active);
    std::set<std::string> ids = {release->record.id()};
    std::erase_if(ready_, [&ids](const auto& one) { return !ids.insert(one->record.id()).second; });
    if (ready_.size() > options_.ready_releases) ready_.resize(options_.ready_releases);
    for (const auto& one : ready_) next->releases.try_emplace(one->record.id(), one);
  } else if (snapshot_ != nullptr) {
    *next = *snapshot_;
  }
  if (!release->record.id().empty()) next->releases[release->record.id()] = release;
  if (active) next->active = std::move(release);
  if (active) unloaded_ = std::move(unloaded);
  previous = std::move(snapshot_);
  snapshot_ = std::move(next);
}

absl::StatusOr<std::shared_ptr<const LoadedRelease>> LiveCollection::Ready(const std::string& id) {
  const auto current = snapshot();
  const auto loaded = current->releases.find(id);
  if (loaded != current->releases.end()) return loaded->second;
  return id.empty() ? loader_->Unreleased() : Load(id);
}

absl::StatusOr<std::shared_ptr<const LoadedRelease>> LiveCollection::Load(const std::string& id) {
  auto release = loader_->Load(id);
  if (!absl::IsResourceExhausted(release.status())) return release;
  LetReadyGo();
  return loader_->Load(id);
}

void LiveCollection::LetReadyGo() {
  std::vector<std::shared_ptr<const LoadedRelease>> gone;  // ends outside of the lock
  std::lock_guard<std::mutex> lock(snapshot_mutex_);
  gone.swap(ready_);
  if (gone.empty()) return;
  auto next = std::make_shared<Snapshot>(*snapshot_);
  for (const auto& one : gone) {
    const std::string& id = one->record.id();
    if (id != next->active->record.id() && !kept_.contains(id)) next->releases.erase(id);
  }
  snapshot_ = std::move(next);
}

absl::StatusOr<storage::ModelRecord> LiveCollection::ImportModel(const std::filesystem::path& folder) {
  return registry_->Import(folder);
}

absl::StatusOr<std::vector<std::string>> LiveCollection::VerifyModel(const std::string& kind,
                                                                     const std::string& version) {
  return registry_->Verify(kind, version);
}

absl::StatusOr<storage::ReleaseRecord> LiveCollection::CreateRelease(storage::ReleaseRecord release) {
  return registry_->CreateRelease(std::move(release));
}

absl::Status LiveCollection::SwitchTo(const std::string& id, const std::string& reason) {
  const storage::ActivationRecord activations = store_->Activations(scope_);
  const std::string current =
      activations.activations().empty() ? "" : activations.activations().rbegin()->release_id();
  // What was trained with the closed-form model's signal is not served without it.
  const auto ease = behaviour_->ease();
  if (auto status = RefreshEase(); !status.ok()) return status;
  const bool renewed = behaviour_->ease() != ease;
  if (renewed) LetReadyGo();  // their views hold the old model
  auto release = renewed && !id.empty() ? Load(id) : Ready(id);
  if (!release.ok()) return release.status();
  storage::ActivationRecord::Activation next;
  next.set_release_id(id);
  next.set_time_us(absl::ToUnixMicros(options_.clock->Now()));
  next.set_reason(reason);
  if (auto status = store_->Activate(scope_, current, next); !status.ok()) return status;
  Publish(*std::move(release), true);
  spdlog::info("release_active collection={}/{} release={} previous={} reason=\"{}\"", name_.tenant,
               name_.collection, id.empty() ? "none" : id, current.empty() ? "none" : current, reason);
  return absl::OkStatus();
}

absl::Status LiveCollection::ActivateRelease(const std::string& id, const std::string& reason) {
  if (id.empty()) return absl::InvalidArgumentError("id: is empty; name the release to activate");
  std::lock_guard<std::mutex> lock(releasing_);
  return SwitchTo(id, reason);
}

absl::StatusOr<std::string> LiveCollection::RollbackRelease(const std::string& reason) {
  std::lock_guard<std::mutex> lock(releasing_);
  // The history is a stack read from its end: a roll-back of a roll-back goes further back, not forth again.
  const storage::ActivationRecord activations = store_->Activations(scope_);
  std::vector<std::string> stack = {""};
  for (const auto& activation : activations.activations()) {
    if (stack.size() >= 2 && stack[stack.size() - 2] == activation.release_id() && activation.rollback()) {
      stack.pop_back();
    } else if (stack.back() != activation.release_id()) {
      stack.push_back(activation.release_id());
    }
  }
  if (stack.size() < 2) {
    return absl::FailedPreconditionError("nothing is released, so there is nothing to go back to");
  }
  const std::string previous = stack[stack.size() - 2];
  auto release = Ready(previous);
  if (!release.ok()) return release.status();
  storage::ActivationRecord::Activation next;
  next.set_release_id(previous);
  next.set_rollback(true);
  next.set_time_us(absl::ToUnixMicros(options_.clock->Now()));
  next.set_reason(reason);
  if (auto status = store_->Activate(scope_, stack.back(), next); !status.ok()) return status;
  Publish(*std::move(release), true);
  spdlog::info("release_rolled_back collection={}/{} release={} previous={} reason=\"{}\"", name_.tenant,
               name_.collection, previous.empty() ? "none" : previous, stack.back(), reason);
  return previous;
}

std::map<std::string, absl::Status> LiveCollection::KeepReleases(const std::set<std::string>& ids) {
  std::lock_guard<std::mutex> lock(releasing_);
  return Keep(ids, /*anew=*/false);
}

std::map<std::string, absl::Status> LiveCollection::Keep(const std::set<std::string>& ids, bool anew) {
  std::map<std::string, absl::Status> failed;
  std::map<std::string, std::shared_ptr<const LoadedRelease>> kept;
  const auto current = snapshot();
  for (const std::string& id : ids) {
    const auto loaded = current->releases.find(id);
    const bool there = loaded != current->releases.end();
    if (there) kept[id] = loaded->second;
    if (there && !anew) continue;
    // What was trained with the closed-form model's signal is not served without it.
    absl::Status status = RefreshEase();
    if (status.ok()) {
      auto release = Load(id);
      status = release.status();
      if (release.ok()) kept[id] = *std::move(release);
    }
    if (!status.ok()) failed[id] = status;
  }
  std::lock_guard<std::mutex> lock(snapshot_mutex_);
  auto next = std::make_shared<Snapshot>(*snapshot_);
  for (const auto& [id, release] : kept_) {
    const bool ready = std::any_of(ready_.begin(), ready_.end(),
                                   [&id = id](const auto& one) { return one->record.id() == id; });
    if (id != next->active->record.id() && !ready) next->releases.erase(id);
  }
  for (const auto& [id, release] : kept) next->releases[id] = release;
  kept_ = std::move(kept);
  snapshot_ = std::move(next);
  return failed;
}

std::string LiveCollection::active_release() const { return snapshot()->active->record.id(); }

UnloadedRelease LiveCollection::unloaded_release() const {
  std::lock_guard<std::mutex> lock(snapshot_mutex_);
  return unloaded_;
}

}  // namespace waymark
