// What one request sees from beginning to end: the releases, loaded. Immutable; swapped whole when a release
// is activated, while requests that began before finish on the old one.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "rank/ranker.h"
#include "recommend/behaviour_view.h"
#include "waymark/storage/models.pb.h"

namespace waymark {

// A release in memory. Equal parts (the same retriever) are shared between releases.
struct LoadedRelease {
  storage::ReleaseRecord record;  // id empty: nothing released
  std::shared_ptr<const Ranker> ranker;
  std::shared_ptr<const BehaviourView> behaviour;
  std::string retriever_version;  // empty: none
};

struct Snapshot {
  std::shared_ptr<const LoadedRelease> active;  // never null
  // Loaded releases by id, the active one among them.
  std::map<std::string, std::shared_ptr<const LoadedRelease>> releases;
};

}  // namespace waymark
