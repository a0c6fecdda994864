// What keeps suggestions in step, in rounds: takes in the news of the log and of what was served, makes the
// small lists anew, starts and takes over large ones that are made on a thread beside, tries past queries,
// and publishes an immutable snapshot.
//
// One thread, but for what is marked.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "store/event_types.h"
#include "suggest/followed_searches.h"
#include "suggest/live_suggestions.h"
#include "suggest/suggestion_checkpoint.h"

namespace waymark {

class SuggestionWorker {
 public:
  using Publish = std::function<void(std::shared_ptr<const SuggestionSnapshot>)>;
  SuggestionWorker(const SuggestionParts* parts, const SuggestionOptions* options, Publish publish);
  ~SuggestionWorker();

  // Reads the files; what is damaged is set aside.
  void Open();
  // `eager`: somebody waits for all there is. Answers whether there is more to do at once.
  absl::StatusOr<bool> Round(bool eager);
  absl::Status Checkpoint();
  // Ends a build that runs. Any thread.
  void Stop() { stop_ = true; }
  // Up to where the log has been read, with what it says of past queries published.
  LogOffset read_position() const { return position_; }
  const std::string& rebuild_reason() const { return rebuild_reason_; }
  // Any thread.
  const PastQueries& past_queries() const { return queries_; }  // its sizes alone

 private:
  struct Build {
    std::thread thread;
    absl::Mutex mutex;
    bool done = false;                                            // under mutex
    absl::StatusOr<std::shared_ptr<const SuggestionLists>> made;  // under mutex
  };

  absl::StatusOr<bool> ReadLog();
  void Take(const Change& change);
  void TakeEvent(const storage::EventRecord& event);
  void TakeFollowing(const storage::EventRecord& event);
  // A visitor who was identified since is the user.
  UserNumber PersonOf(UserNumber user) const;
  UserNumber PersonOf(const storage::EventRecord& event) const {
    return PersonOf(event.user() != 0 ? event.user() : event.visitor());
  }
  absl::StatusOr<bool> ReadServed(bool eager);
  absl::Status TakeBuild();
  void StartBuild(std::function<absl::StatusOr<std::shared_ptr<const SuggestionLists>>()> make);
  absl::Status KeepLists(bool eager);
  absl::Status MakeTail(bool eager);
  // Whether all queries that are due have been tried.
  absl::StatusOr<bool> KeepQueries(bool eager);
  void PublishAll();
  absl::Time Now() const { return parts_.lists.clock->Now(); }

  const SuggestionParts& parts_;
  const SuggestionOptions& options_;
  const Publish publish_;
  const std::filesystem::path folder_;
  std::atomic<bool> stop_ = false;
  std::string rebuild_reason_;

  LogOffset position_ = 0;       // of the log that is read
  LogOffset tail_position_ = 0;  // of the log that the lists show
  std::shared_ptr<const SuggestionLists> main_, tail_;
  absl::flat_hash_map<ItemOrdinal, LogOffset> changed_;  // since main_
  std::shared_ptr<const absl::flat_hash_set<ItemOrdinal>> changed_shown_;
  SuggestedFields fields_;  // as the schema has them
  bool tail_stale_ = false, main_unsaved_ = false;
  LogOffset build_floor_ = 0;  // while there is no main_: what the first one will hold
  std::unique_ptr<Build> build_;
  absl::Time next_tail_ = absl::InfinitePast(), build_started_, next_build_ = absl::InfinitePast();
  absl::Time weighed_ = absl::InfinitePast();

  PastQueries queries_;
  FollowedSearches followed_;
  EventTypes types_;  // of this round
  QueryList query_list_;
  int64_t served_us_ = 0;
  absl::Time next_served_ = absl::InfinitePast(), next_queries_ = absl::InfinitePast();
  absl::Time shown_again_ = absl::InfinitePast();
  std::vector<UserNumber> erased_;  // of this round
  absl::flat_hash_map<UserNumber, UserNumber> joined_;
  bool queries_stale_ = true, queries_unsaved_ = false, erasure_unsaved_ = false;
};

}  // namespace waymark
