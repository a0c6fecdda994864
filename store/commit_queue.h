// Group commit: writers that wait for the same fsync share it.
//
// A writer enqueues its entry; the one at the front becomes the leader, takes what has queued up (bounded in
// bytes), commits it as one group, and releases the group's writers. The next front leads the next group.
// While a leader syncs, others queue: the busier, the larger the groups.
//
//   CommitQueue queue({}, [](absl::Span<CommitQueue::Entry* const> group) { ... });
//   queue.Submit(entry);  // returns when the group that held it was committed
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "absl/types/span.h"

namespace waymark {

struct CommitQueueLimits {
  size_t queued_bytes = 64 << 20;  // writers beyond wait for room
  size_t group_bytes = 8 << 20;    // a single larger entry is a group of its own
};

// Thread-safe.
class CommitQueue {
 public:
  class Entry {
   public:
    virtual ~Entry() = default;
    size_t bytes = 0;

   private:
    friend class CommitQueue;
    bool done_ = false;
    std::condition_variable turn_;
  };
  // Called by one thread at a time, in the order of submission.
  using Commit = std::function<void(absl::Span<Entry* const> group)>;

  CommitQueue(CommitQueueLimits limits, Commit commit) : limits_(limits), commit_(std::move(commit)) {}
  void Submit(Entry& entry);

 private:
  std::vector<Entry*> TakeGroup();

  const CommitQueueLimits limits_;
  const Commit commit_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::deque<Entry*> queue_;
  size_t queued_bytes_ = 0;
  bool leading_ = false;
};

}  // namespace waymark
