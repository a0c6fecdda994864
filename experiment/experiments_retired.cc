// Experiments that ended a while ago. Their figures come from the exposures and the log when somebody asks;
// in memory they are a name and how far erasures have reached them.
#include <algorithm>

#include "experiment/decisions/state_machine.h"
#include "experiment/experiments_impl.h"

namespace waymark {
namespace {

using storage::ExperimentRecord;
using storage::ExposureRecord;

// So long reports stay instant.
constexpr absl::Duration kKeptAfterEnd = absl::Hours(24);
// A start reads the log from here on, for erasures.
constexpr LogOffset kSaveEvery = 1'000'000;
constexpr size_t kExposuresABatch = 10'000;

}  // namespace

bool Experiments::Impl::IsOver(const ExperimentRecord& record) const {
  return record.state() != ExperimentRecord::DRAFT && !IsLive(record.state()) && !record.release_pending() &&
         absl::FromUnixMicros(record.state_time_us()) + kKeptAfterEnd < options.clock->Now();
}

// An erasure names a number, and who has none in the exposure could not be found by it later.
absl::Status Experiments::Impl::NumberExposures(const std::string& id) {
  std::vector<ExposureRecord> numbered;
  absl::Status status;
  const auto write = [&] {
    status = store->PutExposures(scope, numbered);
    numbered.clear();
    return status.ok();
  };
  absl::Status read = store->ForEachExposure(scope, id, [&](const ExposureRecord& exposure) {
    if (exposure.number() != 0) return true;
    const std::string& unit = exposure.reader().empty() ? exposure.unit() : exposure.reader();
    const auto number = people.NumberOf(unit);
    if (!number) return true;
    numbered.push_back(exposure);
    numbered.back().set_number(*number);
    return numbered.size() < kExposuresABatch || write();
  });
  if (read.ok() && status.ok() && !numbered.empty()) write();
  return read.ok() ? status : read;
}

absl::Status Experiments::Impl::RetireEnded() {
  std::lock_guard<std::mutex> follow(follow_mutex);
  for (const auto& one : AllLive()) {
    auto record = store->GetExperiment(scope, one->id);
    if (!record.ok() || !IsOver(*record)) continue;
    absl::Status status = CatchUp();
    if (status.ok()) status = NumberExposures(one->id);
    if (!status.ok()) return status;
    {
      std::lock_guard<std::mutex> lock(one->served_mutex);
      one->served.set_retired_until(position);
      one->served_changed = true;
    }
    if (status = SaveServed(); !status.ok()) return status;
    std::unique_lock<std::shared_mutex> lock(mutex);
    live.erase(one->id);
    retired[one->id] = position;
  }
  return absl::OkStatus();
}

absl::Status Experiments::Impl::EraseRetired(const absl::flat_hash_set<UserNumber>& users) {
  for (const auto& [id, until] : retired) {
    // A visitor's row and its user's are one, whichever of them the number is of.
    absl::flat_hash_set<std::string> erased;
    const auto note = [&](auto belongs) {
      return store->ForEachExposure(scope, id, [&](const ExposureRecord& exposure) {
        if (!belongs(exposure)) return true;
        erased.insert(exposure.unit());
        if (!exposure.adopted_from().empty()) erased.insert(exposure.adopted_from());
        return true;
      });
    };
    absl::Status status = note([&](const ExposureRecord& e) { return users.contains(e.number()); });
    if (status.ok() && erased.empty()) continue;
    const absl::flat_hash_set<std::string> first = erased;
    if (status.ok()) status = note([&](const ExposureRecord& e) { return first.contains(e.adopted_from()); });
    for (const std::string& unit : erased) status.Update(store->DeleteExposure(scope, id, unit));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Experiments::Impl::SaveRetired() {
  std::vector<storage::ServedSumsRecord> changed;
  for (storage::ServedSumsRecord& sums : store->ServedSums(scope)) {
    const auto found = retired.find(sums.experiment());
    if (found == retired.end() || found->second == position) continue;
    sums.set_retired_until(position);
    changed.push_back(std::move(sums));
  }
  if (changed.empty()) return absl::OkStatus();
  absl::Status status = store->PutServedSums(scope, changed);
  if (!status.ok()) return status;
  std::unique_lock<std::shared_mutex> lock(mutex);
  for (auto& [id, until] : retired) until = position;
  return status;
}

absl::Status Experiments::Impl::FollowErasures(const absl::flat_hash_set<UserNumber>& erased) {
  if (retired.empty()) return absl::OkStatus();
  if (!erased.empty()) {
    if (absl::Status status = EraseRetired(erased); !status.ok()) return status;
  }
  LogOffset least = position;
  for (const auto& [id, until] : retired) least = std::min(least, until);
  return !erased.empty() || position - least > kSaveEvery ? SaveRetired() : absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<LiveExperiment>> Experiments::Impl::ReadAgain(const ExperimentRecord& record) {
  if (again.live == nullptr || again.live->id != record.id() ||
      again.create_time_us != record.create_time_us() || again.forgotten != forgotten) {
    again = {};
    again.forgotten = forgotten;
    again.create_time_us = record.create_time_us();
    auto made = MakeLive(record);
    if (!made.ok()) return made.status();
    for (const storage::ServedSumsRecord& sums : store->ServedSums(scope)) {
      if (sums.experiment() == record.id()) SetServed(sums, made->get());
    }
    again.live = *std::move(made);
  }
  absl::Status status = TakeNews(*again.live, again.position);
  if (status.ok()) status = ReadLog(store->End(), {again.live}, &again.position, nullptr);
  if (!status.ok()) {
    again = {};
    return status;
  }
  if (again.live->lists != nullptr) again.live->lists->Prune(absl::ToUnixMicros(options.clock->Now()));
  return again.live;
}

absl::Status Experiments::Impl::WithFigures(const ExperimentRecord& record,
                                            const std::function<void(LiveExperiment&)>& use) {
  const auto one = FindLive(record.id());
  if (one == nullptr) {
    std::lock_guard<std::mutex> lock(again_mutex);
    auto read = ReadAgain(record);
    if (read.ok()) use(**read);
    return read.status();
  }
  std::lock_guard<std::mutex> follow(follow_mutex);
  if (absl::Status status = CatchUp(); !status.ok()) return status;
  use(*one);
  return absl::OkStatus();
}

size_t Experiments::InMemory() const {
  std::shared_lock<std::shared_mutex> lock(impl_->mutex);
  return impl_->live.size();
}

}  // namespace waymark
