// Makes releases ready to serve: loads packages, fills the vectors of their retrievers, binds rankers to
// them. Equal retrievers are loaded once and shared.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "candidates/item_directory.h"
#include "pipeline/model_registry.h"
#include "pipeline/snapshot.h"
#include "recommend/live_behaviour.h"
#include "recommend/live_vectors.h"

namespace waymark {

// A retriever in memory with the vectors of every item for it.
struct LiveRetriever {
  std::shared_ptr<const Retriever> retriever;
  std::shared_ptr<LiveVectors> vectors;
};

// Thread-safe.
class ReleaseLoader {
 public:
  ReleaseLoader(Store* store, Scope scope, const ItemDirectory* items, const ModelRegistry* registry,
                const LiveBehaviour* behaviour, size_t memory_limit_bytes)
      : store_(store),
        scope_(scope),
        items_(items),
        registry_(registry),
        behaviour_(behaviour),
        memory_limit_bytes_(memory_limit_bytes) {}

  // What serves while nothing is released: counts, and a weighted sum.
  absl::StatusOr<std::shared_ptr<const LoadedRelease>> Unreleased() const;
  // RESOURCE_EXHAUSTED names the bytes needed; DATA_LOSS and FAILED_PRECONDITION what is wrong with a
  // package.
  absl::StatusOr<std::shared_ptr<const LoadedRelease>> Load(const std::string& release_id);
  // Retrievers that some release in use holds; others are let go.
  std::vector<std::shared_ptr<LiveRetriever>> Retrievers() const;

 private:
  absl::StatusOr<std::shared_ptr<LiveRetriever>> LoadRetriever(const std::string& version,
                                                               const std::string& sha256);
  std::shared_ptr<const BehaviourView> MakeView(const std::shared_ptr<LiveRetriever>& retriever) const;

  Store* store_;
  Scope scope_;
  const ItemDirectory* items_;
  const ModelRegistry* registry_;
  const LiveBehaviour* behaviour_;
  size_t memory_limit_bytes_;
  mutable std::mutex mutex_;
  // By content hash; weak, so that a retriever goes when its last release does.
  std::map<std::string, std::weak_ptr<LiveRetriever>> retrievers_;
};

}  // namespace waymark
