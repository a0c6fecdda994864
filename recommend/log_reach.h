// How far a follower of the log has come, and waiting for it.
#pragma once
#include <condition_variable>
#include <mutex>

#include "absl/time/time.h"
#include "store/ids.h"

namespace waymark {

// Thread-safe.
class LogReach {
 public:
  LogOffset position() const;
  void Set(LogOffset position);
  // Waits until position() is at least `offset`. False: the deadline came first.
  bool WaitFor(LogOffset offset, absl::Time until) const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable moved_;
  LogOffset position_ = 0;
};

}  // namespace waymark
