// The thread that keeps an index in step with the store. It works in rounds: take in the log's news, commit
// when somebody asked for it; a round begins every refresh interval and when somebody asks. Everything that
// touches the segments happens on it, so that searches need no lock but the one around the pointer to the
// snapshot.
//
//   IndexWorker worker(store, scope, folder, options);
//   worker.Open();
//   worker.Start(&catalog);
//   worker.AwaitRound(absl::InfiniteFuture());
//   worker.snapshot();
//
// Thread-safe.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "index/index_maintainer.h"

namespace waymark {

class IndexWorker {
 public:
  // `options.refresh_interval`: zero: a round begins only when somebody asks.
  IndexWorker(const Store* store, Scope scope, std::filesystem::path folder,
              const KeywordIndexOptions& options);
  // Ends the round at the next batch, commits what there is.
  ~IndexWorker();

  // Opens the index, on the calling thread.
  absl::Status Open();
  // Starts the rounds.
  void Start(const Catalog* catalog);
  std::shared_ptr<const IndexSnapshot> snapshot() const;

  // Waits for a whole round that began after the call. Answers its error; DEADLINE_EXCEEDED; CANCELLED when
  // the worker ends.
  absl::Status AwaitRound(absl::Time until);
  // Waits until `offset` is searchable.
  absl::Status AwaitPosition(LogOffset offset, absl::Time until);
  // Waits for a round that commits at its end.
  absl::Status Commit();

  // Waits for a round that sets the index aside and makes it anew from the store.
  absl::Status Rebuild(const std::string& reason);

  // Of the last round; OK when it was good.
  absl::Status last_error() const;
  std::string rebuild_reason() const;
  std::string recompile_reason() const;

 private:
  struct Round {
    bool commit = false;
    std::string rebuild;  // why; empty: not
  };
  // Holding mutex_ from here on.
  absl::Status Await(std::unique_lock<std::mutex>* lock, LogOffset offset, bool whole_round,
                     absl::Time until);
  bool BeginRound(Round* round);  // takes mutex_; false: the worker ends
  void EndRound(absl::Status status);
  void Run();

  const absl::Duration refresh_interval_;
  const std::string name_;  // for the log

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const IndexSnapshot> snapshot_;
  bool round_wanted_ = false, commit_wanted_ = false;
  std::string rebuild_wanted_;                    // why; empty: not
  int waiting_ = 0;                               // callers inside Await
  uint64_t rounds_begun_ = 0, rounds_ended_ = 0;  // numbers of the last ones
  absl::Status round_status_;                     // of the last round that ended
  int failures_ = 0;                              // in a row
  std::string rebuild_reason_, recompile_reason_;
  std::atomic<bool> stop_ = false;  // written holding mutex_

  IndexMaintainer maintainer_;  // once the thread runs, the thread's alone
  std::thread thread_;
};

}  // namespace waymark
