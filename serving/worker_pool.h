// A fixed number of threads that run jobs in the order they came. How many jobs may wait is decided by who
// submits (serving/call_runner.h), so that a job that was admitted is never lost.
#pragma once
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"

namespace waymark {

// Thread-safe.
class WorkerPool {
 public:
  explicit WorkerPool(int threads);
  // Runs what was submitted, then ends.
  ~WorkerPool();
  void Submit(std::function<void()> job);

 private:
  void Work();
  absl::Mutex mutex_;
  std::deque<std::function<void()>> jobs_;  // guarded by mutex_
  bool stopping_ = false;                   // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace waymark
