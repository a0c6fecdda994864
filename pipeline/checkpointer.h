// Keeps what is derived from the log for the next start: every so often, and whenever so many changes have
// come since that replaying them would hold up a start after a crash. On a thread of its own, so that nobody
// who follows the log waits for a disk.
//
//   Checkpointer checkpointer("shop", {}, catalog.replayed_changes(), [&] { return catalog.live_count(); },
//                             [&] { return collection.Checkpoint(); });
//   checkpointer.Count(changes.size());   // on the committing thread
//
// Thread-safe.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace waymark {

struct CheckpointPolicy {
  absl::Duration interval = absl::Minutes(5);
  int64_t changes = 20'000;
};

// The changes after which a collection of so many items is kept: a checkpoint writes the columns of all
// items, so that its bytes stay in proportion to those of the changes.
int64_t ChangesBeforeCheckpoint(const CheckpointPolicy& policy, int64_t items);

// `since_try`: since the last checkpoint began, of which `failed` says how it ended.
bool CheckpointDue(const CheckpointPolicy& policy, int64_t items, int64_t changes, absl::Duration since_try,
                   bool failed);

class Checkpointer {
 public:
  // `name` for the log; `items`: how many there are now; `replayed`: changes that this start took in beyond
  // the last checkpoint.
  Checkpointer(std::string name, const CheckpointPolicy& policy, int64_t replayed,
               std::function<int64_t()> items, std::function<absl::Status()> checkpoint);
  // Waits for a checkpoint that is being made.
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;

  // So many changes were committed.
  void Count(int64_t changes);
  // Changes that no checkpoint has; those that come while one is made count for the next.
  int64_t changes() const;

 private:
  void Run();

  const std::string name_;
  const CheckpointPolicy policy_;
  const std::function<int64_t()> items_;
  const std::function<absl::Status()> checkpoint_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  int64_t changes_;
  int64_t wanted_at_ = 0;  // changes at which the thread looks before its time
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace waymark
