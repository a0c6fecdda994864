// The counts of one collection, kept up with its log: opened from a checkpoint and the log's tail, or rebuilt
// from the histories.
//
//   auto behaviour = LiveBehaviour::Open(store, scope, {});
//   (*behaviour)->Apply(changes, read_up_to);   // in log order, by one thread
//   BehaviourParts parts{.counts = (*behaviour)->counts(), .ease = (*behaviour)->ease()};
//
// Counted are events with a positive sign that name items. An event that comes with an older event time than
// the user's newest goes to its place in the history, so the counts do not depend on the order of arrival,
// and a rebuild (one pass over the histories, no reads per event) gives the same numbers. Two exceptions,
// both until the next rebuild: an identify event joins histories, and they stay counted as the two that they
// were; events of an erased user stay counted, without the user.
//
// Thread-safe; counts() is one object for life. Files: DATA/recommend/<tenant>-<collection>/.
#pragma once
#include <filesystem>
#include <memory>
#include <mutex>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "recommend/behaviour_counts.h"
#include "recommend/ease.h"
#include "recommend/log_reach.h"
#include "recommend/recent_histories.h"
#include "store/store.h"

namespace waymark {

// What Apply() takes in; other changes say nothing of behaviour.
inline constexpr ChangeKinds kBehaviourChanges = {.items = false, .users = false};

struct LiveBehaviourOptions {
  BehaviourCountsOptions counts;
  EaseOptions ease;
};

class LiveBehaviour {
 public:
  // Comes to the log's end before it answers. A checkpoint that is missing, damaged, or was made with other
  // options or by a newer program is passed over, and the counts are rebuilt.
  static absl::StatusOr<std::unique_ptr<LiveBehaviour>> Open(const Store* store, Scope scope,
                                                             const LiveBehaviourOptions& options);
  ~LiveBehaviour();

  // Takes in changes of this collection, in log order; those at or before position() are passed over.
  // `up_to`: the log has been read to here, also when the last changes were other collections'.
  void Apply(absl::Span<const Change> changes, LogOffset up_to);
  void Apply(absl::Span<const Change> changes) { Apply(changes, 0); }
  LogOffset position() const { return reach_.position(); }
  // Waits until position() is at least `offset`. False: the deadline came first.
  bool WaitFor(LogOffset offset, absl::Time until) const { return reach_.WaitFor(offset, until); }
  // Writes a checkpoint (to a new file, fsync, rename). Readers go on; Apply waits.
  absl::Status Checkpoint();
  // Why the counts or the closed-form model were made anew at the start; empty: they were not, or there were
  // none.
  const std::string& rebuild_reason() const { return rebuild_reason_; }

  std::shared_ptr<const BehaviourCounts> counts() const { return counts_; }
  // Null until RefreshEase() has made one, here or before a restart.
  std::shared_ptr<const Ease> ease() const;
  // Whether there is none, or a tenth more events than it was made from; never for a catalogue that is too
  // large for it.
  bool EaseIsStale() const;
  // Makes it anew from the histories, keeps it and writes it down. For a thread in the background: up to a
  // minute at 12,500 items. RESOURCE_EXHAUSTED: too many items.
  absl::Status RefreshEase();

 private:
  LiveBehaviour(const Store* store, Scope scope, const LiveBehaviourOptions& options);
  // Sets `file` aside when it is damaged; says why it is made anew.
  void NotUsed(const std::string& file, const absl::Status& why);
  absl::Status OpenCounts();
  absl::Status Rebuild();
  absl::Status Replay();
  void Take(const Change& change, const EventTypes& types);  // under apply_mutex_

  const Store* const store_;
  const Scope scope_;
  const LiveBehaviourOptions options_;
  const std::filesystem::path folder_;
  std::shared_ptr<BehaviourCounts> counts_;
  std::string rebuild_reason_;  // set while opening

  std::mutex apply_mutex_;
  std::unique_ptr<RecentHistories> histories_;  // under apply_mutex_
  LogReach reach_;

  std::mutex ease_build_mutex_;
  mutable std::mutex ease_mutex_;
  // Under ease_mutex_.
  std::shared_ptr<const Ease> ease_;
  bool ease_too_large_ = false;
};

}  // namespace waymark
