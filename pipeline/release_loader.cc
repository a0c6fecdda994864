#include "pipeline/release_loader.h"

#include "absl/strings/str_cat.h"
#include "pipeline/blending_plan.h"
#include "rank/attention_ranker.h"
#include "rank/weighted_sum_ranker.h"

namespace waymark {

std::shared_ptr<const BehaviourView> ReleaseLoader::MakeView(
    const std::shared_ptr<LiveRetriever>& retriever) const {
  BehaviourParts parts;
  parts.counts = behaviour_->counts();
  parts.ease = behaviour_->ease();
  parts.ease_awaited = parts.ease == nullptr && behaviour_->EaseIsStale();
  parts.items = items_;
  if (retriever != nullptr) {
    // The aliases keep the whole LiveRetriever alive, so that its vectors are kept up as long as a view uses
    // them.
    parts.retriever = std::shared_ptr<const Retriever>(retriever, retriever->retriever.get());
    parts.vectors = std::shared_ptr<const VectorIndex>(retriever, retriever->vectors->index().get());
  }
  return std::make_shared<const BehaviourView>(std::move(parts));
}

absl::StatusOr<std::shared_ptr<const LoadedRelease>> ReleaseLoader::Unreleased() const {
  auto release = std::make_shared<LoadedRelease>();
  *release->record.mutable_plan() = DefaultBlendingPlan();
  auto ranker = MakeWeightedSumRanker({});
  if (!ranker.ok()) return ranker.status();
  release->ranker = *std::move(ranker);
  release->behaviour = MakeView(nullptr);
  return std::shared_ptr<const LoadedRelease>(std::move(release));
}

absl::StatusOr<std::shared_ptr<LiveRetriever>> ReleaseLoader::LoadRetriever(const std::string& version,
                                                                            const std::string& sha256) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (auto live = retrievers_[sha256].lock()) return live;
  auto package = registry_->Open("retriever", version);
  if (!package.ok()) return package.status();
  auto retriever = Retriever::Load(*package, items_);
  if (!retriever.ok()) return retriever.status();

  const size_t needed = (*retriever)->width() * sizeof(float) * static_cast<size_t>(items_->End());
  size_t held = 0;
  for (const auto& [hash, weak] : retrievers_) {
    if (auto live = weak.lock())
      held += live->retriever->width() * sizeof(float) * static_cast<size_t>(items_->End());
  }
  if (held + needed > memory_limit_bytes_) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "retriever '", version, "' needs ", needed, " bytes of item vectors beside the ", held,
        " of the retrievers that serve; the limit is ", memory_limit_bytes_, " (model_memory_limit_bytes)"));
  }
  auto live = std::make_shared<LiveRetriever>();
  live->retriever = *std::move(retriever);
  auto vectors = LiveVectors::Open(store_, scope_, live->retriever, items_);
  if (!vectors.ok()) return vectors.status();
  live->vectors = *std::move(vectors);
  retrievers_[sha256] = live;
  return live;
}

absl::StatusOr<std::shared_ptr<const LoadedRelease>> ReleaseLoader::Load(const std::string& release_id) {
  auto record = store_->GetRelease(scope_, release_id);
  if (!record.ok()) return record.status();
  auto release = std::make_shared<LoadedRelease>();
  release->record = *record;
  std::shared_ptr<LiveRetriever> retriever;
  if (!record->retriever_version().empty()) {
    auto loaded = LoadRetriever(record->retriever_version(), record->retriever_sha256());
    if (!loaded.ok()) return loaded.status();
    retriever = *std::move(loaded);
    release->retriever_version = record->retriever_version();
  }
  if (record->ranker_version().empty()) {
    const auto& weights = record->plan().signal_weights();
    auto ranker = MakeWeightedSumRanker(std::map<std::string, double>(weights.begin(), weights.end()));
    if (!ranker.ok()) return ranker.status();
    release->ranker = *std::move(ranker);
  } else {
    auto package = registry_->Open("ranker", record->ranker_version());
    if (!package.ok()) return package.status();
    auto ranker = LoadAttentionRanker(*package, items_, record->retriever_sha256());
    if (!ranker.ok()) return ranker.status();
    release->ranker = *std::move(ranker);
  }
  release->behaviour = MakeView(retriever);
  return std::shared_ptr<const LoadedRelease>(std::move(release));
}

std::vector<std::shared_ptr<LiveRetriever>> ReleaseLoader::Retrievers() const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::shared_ptr<LiveRetriever>> live;
  for (const auto& [hash, weak] : retrievers_) {
    if (auto retriever = weak.lock()) live.push_back(std::move(retriever));
  }
  return live;
}

}  // namespace waymark
