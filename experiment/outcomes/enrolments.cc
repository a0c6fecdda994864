#include "experiment/outcomes/enrolments.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace waymark {

std::optional<int> Enrolments::ArmOf(const std::string& unit) const {
  std::shared_lock<std::shared_mutex> lock(mutex_);
  const auto found = entries_.find(unit);
  if (found == entries_.end()) return std::nullopt;
  return found->second.arm;
}

Enrolments::Outcome Enrolments::Enrol(const storage::ExposureRecord& exposure) {
  std::unique_lock<std::shared_mutex> lock(mutex_);
  const auto [entry, added] =
      entries_.try_emplace(exposure.unit(), Entry{exposure.arm(), exposure.conflict()});
  if (!added) return entry->second.arm == exposure.arm() ? Outcome::kKnown : Outcome::kConflict;
  conflicts_ += exposure.conflict();
  // Either the user took over the visitor's arm, or the visitor was enrolled too and turned out to be the
  // user.
  for (const std::string& unit : {exposure.unit(), exposure.adopted_from()}) {
    if (!exposure.adopted_from().empty() && unit.starts_with("v:")) joined_.insert(unit);
  }
  news_.enrolled.push_back(exposure);
  return Outcome::kNew;
}

bool Enrolments::MarkConflict(const std::string& unit) {
  std::unique_lock<std::shared_mutex> lock(mutex_);
  const auto found = entries_.find(unit);
  if (found == entries_.end() || found->second.conflict) return false;
  found->second.conflict = true;
  ++conflicts_;
  news_.conflicts.push_back(unit);
  return true;
}

bool Enrolments::MarkSame(const std::string& visitor, const std::string& user) {
  {
    std::shared_lock<std::shared_mutex> lock(mutex_);
    if (joined_.contains(visitor)) return false;
  }
  std::unique_lock<std::shared_mutex> lock(mutex_);
  if (!joined_.insert(visitor).second) return false;
  news_.same.emplace_back(visitor, user);
  return true;
}

void Enrolments::Forget(const std::string& unit) {
  std::unique_lock<std::shared_mutex> lock(mutex_);
  entries_.erase(unit);
  std::erase_if(news_.enrolled, [&](const auto& exposure) { return exposure.unit() == unit; });
}

Enrolments::News Enrolments::TakeNews() {
  std::unique_lock<std::shared_mutex> lock(mutex_);
  return std::exchange(news_, {});
}

int64_t Enrolments::size() const {
  std::shared_lock<std::shared_mutex> lock(mutex_);
  return static_cast<int64_t>(entries_.size());
}

int64_t Enrolments::conflicts() const {
  std::shared_lock<std::shared_mutex> lock(mutex_);
  return conflicts_;
}

}  // namespace waymark
