// The item vectors of one retriever over one collection, kept up with its log: new and changed items are
// embedded, deleted ones removed; a thread in the background seals and merges segments.
//
//   auto vectors = LiveVectors::Open(store, scope, retriever, items);
//   (*vectors)->Apply(changes, read_up_to);
//   (*vectors)->index()->Search(...);
//
// Opened from its checkpoint and the log's tail; every live item is embedded when there is none. Thread-safe.
// Files: DATA/vectors/<tenant>-<collection>/<first 16 digits of the retriever's SHA-256>/.
#pragma once
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "candidates/item_directory.h"
#include "recommend/log_reach.h"
#include "recommend/retriever.h"
#include "recommend/vector_index.h"
#include "store/store.h"

namespace waymark {

class LiveVectors {
 public:
  // `options.width` is the retriever's, whatever it says. `items` outlives this.
  static absl::StatusOr<std::unique_ptr<LiveVectors>> Open(const Store* store, Scope scope,
                                                           std::shared_ptr<const Retriever> retriever,
                                                           const ItemDirectory* items,
                                                           VectorIndexOptions options = {});
  // Stops the background thread within one batch of its work.
  ~LiveVectors();

  // Takes in changes of this collection, in log order; those at or before position() are passed over.
  // After an error nothing of the call counts as taken in. RESOURCE_EXHAUSTED: over the memory limit.
  absl::Status Apply(absl::Span<const Change> changes, LogOffset up_to);
  absl::Status Apply(absl::Span<const Change> changes) { return Apply(changes, 0); }
  LogOffset position() const { return reach_.position(); }
  bool WaitFor(LogOffset offset, absl::Time until) const { return reach_.WaitFor(offset, until); }
  absl::Status Checkpoint();
  // Embeds every live item again, takes out what does not live, and writes a checkpoint.
  absl::Status Rebuild();

  std::shared_ptr<const VectorIndex> index() const { return index_; }
  const Retriever& retriever() const { return *retriever_; }
  const std::filesystem::path& folder() const { return folder_; }
  // Why they were made anew at the start; empty: they were not, or there were none.
  const std::string& rebuild_reason() const { return rebuild_reason_; }

 private:
  LiveVectors(const Store* store, Scope scope, std::shared_ptr<const Retriever> retriever,
              const ItemDirectory* items);
  absl::Status OpenIndex(const VectorIndexOptions& options);
  absl::Status EmbedAll();
  absl::Status Replay();
  // Those whose vectors differ from what is there are put in.
  absl::Status Embed(absl::Span<const ItemOrdinal> items);  // under apply_mutex_
  void WakeUpkeep();
  void Upkeep();

  const Store* const store_;
  const Scope scope_;
  const std::shared_ptr<const Retriever> retriever_;
  const ItemDirectory* const items_;
  const std::filesystem::path folder_;
  std::shared_ptr<VectorIndex> index_;
  std::string rebuild_reason_;  // set while opening

  std::mutex apply_mutex_;
  LogReach reach_;

  std::mutex upkeep_mutex_;
  std::condition_variable upkeep_wake_;
  bool changed_ = true, stop_ = false;  // under upkeep_mutex_
  std::thread upkeep_;
};

}  // namespace waymark
