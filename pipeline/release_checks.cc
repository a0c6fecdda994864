// LiveCollection::CheckRelease: what is looked at before a release serves everybody.
#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "pipeline/live_collection.h"

namespace waymark {
namespace {

// Readers whose feeds warm a release up.
constexpr size_t kWarmUpReaders = 5;
constexpr absl::Duration kWarmUpPatience = absl::Seconds(10);

// What can be compared between packages: higher is better, and each was measured on what it had not seen.
bool IsOfflineMetric(const std::string& name) {
  // How many lists it was measured on is no quality.
  return absl::StartsWith(name, "validation_") && !absl::StrContains(name, "loss") &&
         name != "validation_lists";
}

std::map<std::string, double> OfflineMetrics(const Store& store, Scope scope,
                                             const storage::ReleaseRecord& release) {
  std::map<std::string, double> metrics;
  for (const auto& [kind, version] :
       {std::pair<std::string, std::string>("retriever", release.retriever_version()),
        std::pair<std::string, std::string>("ranker", release.ranker_version())}) {
    if (version.empty()) continue;
    const auto model = store.GetModel(scope, kind, version);
    if (!model.ok()) continue;
    for (const auto& [name, value] : model->manifest().metrics()) {
      if (IsOfflineMetric(name)) metrics[absl::StrCat(kind, " ", name)] = value;
    }
  }
  return metrics;
}

ReleaseCheck CompareMetrics(const std::map<std::string, double>& candidate,
                            const std::map<std::string, double>& active, double max_drop) {
  ReleaseCheck check{.name = "offline_metrics"};
  std::vector<std::string> compared, worse;
  for (const auto& [name, value] : candidate) {
    const auto other = active.find(name);
    if (other == active.end() || !(other->second > 0)) continue;
    const std::string text = absl::StrFormat("%s %.4f against %.4f", name, value, other->second);
    compared.push_back(text);
    if (value < other->second * (1 - max_drop)) worse.push_back(text);
  }
  check.holds = worse.empty();
  if (compared.empty()) {
    check.detail = "there is nothing to compare with the active release";
  } else {
    check.detail = worse.empty() ? absl::StrJoin(compared, ", ")
                                 : absl::StrFormat("worse by more than %g%%: %s", 100 * max_drop,
                                                   absl::StrJoin(worse, ", "));
  }
  return check;
}

}  // namespace

absl::StatusOr<std::vector<ReleaseCheck>> LiveCollection::CheckRelease(const std::string& id,
                                                                       double max_metric_drop) {
  auto record = store_->GetRelease(scope_, id);
  if (!record.ok()) return record.status();
  std::vector<ReleaseCheck> checks;
  ReleaseCheck& packages =
      checks.emplace_back(ReleaseCheck{.name = "packages", .detail = "every file is as its hash says"});
  for (const auto& [kind, version] :
       {std::pair<std::string, std::string>("retriever", record->retriever_version()),
        std::pair<std::string, std::string>("ranker", record->ranker_version())}) {
    if (version.empty()) continue;
    const auto differences = registry_->Verify(kind, version);
    if (differences.ok() && differences->empty()) continue;
    packages.holds = false;
    packages.fatal = true;
    packages.detail = absl::StrCat(
        kind, " '", version, "': ",
        differences.ok() ? absl::StrJoin(*differences, "; ") : std::string(differences.status().message()));
  }
  // Loads it, which compares the features that its ranker was trained on with those that there are.
  std::shared_ptr<const LoadedRelease> loaded;
  {
    std::lock_guard<std::mutex> lock(releasing_);
    if (auto status = RefreshEase(); !status.ok()) return status;
    auto release = Ready(id);
    ReleaseCheck features{.name = "features", .detail = "it loads, and has every feature it was trained on"};
    if (!release.ok()) {
      features.holds = false;
      features.fatal = true;
      features.detail = std::string(release.status().message());
    } else {
      loaded = *std::move(release);
      Publish(loaded, false);  // whoever activates it next does not load it again
    }
    checks.push_back(std::move(features));
  }
  if (loaded != nullptr) checks.push_back(WarmUp(loaded));
  const auto active = snapshot()->active;
  checks.push_back(CompareMetrics(OfflineMetrics(*store_, scope_, *record),
                                  OfflineMetrics(*store_, scope_, active->record), max_metric_drop));
  return checks;
}

ReleaseCheck LiveCollection::WarmUp(const std::shared_ptr<const LoadedRelease>& release) {
  ReleaseCheck check{.name = "warm_up"};
  Snapshot candidate;
  candidate.active = release;
  candidate.releases[release->record.id()] = release;
  const auto current = snapshot();
  std::vector<std::string> readers = {""};
  const absl::Status read = store_->ForEachUser(scope_, 0, [&](UserNumber, const storage::UserRecord& user) {
    if (!user.visitor() && !user.deleted()) readers.push_back(user.id());
    return readers.size() <= kWarmUpReaders;
  });
  if (!read.ok()) {
    check.holds = false;
    check.detail = absl::StrCat("users cannot be read: ", std::string(read.message()));
    return check;
  }
  const absl::Time start = absl::Now();
  int empty = 0;
  for (const std::string& reader : readers) {
    PipelineRequest feed;
    feed.kind = RequestKind::kRecommend;
    feed.user_id = reader;
    feed.copy = true;
    const auto answer = pipeline_->Run(candidate, feed, Deadline::After(kWarmUpPatience));
    if (!answer.ok()) {
      check.holds = false;
      check.detail = absl::StrCat("a feed fails: ", std::string(answer.status().message()));
      return check;
    }
    // Where nothing has been released there is nothing to fall behind.
    if (!answer->items.empty() || current->active->record.id().empty()) continue;
    const auto before = pipeline_->Run(*current, feed, Deadline::After(kWarmUpPatience));
    empty += before.ok() && !before->items.empty();
  }
  check.holds = empty == 0;
  const double milliseconds =
      absl::ToDoubleMilliseconds(absl::Now() - start) / static_cast<double>(readers.size());
  check.detail = empty == 0 ? absl::StrFormat("%d feeds, %.1f ms each", readers.size(), milliseconds)
                            : absl::StrFormat("%d of %d feeds are empty that the active release fills", empty,
                                              readers.size());
  return check;
}

}  // namespace waymark
