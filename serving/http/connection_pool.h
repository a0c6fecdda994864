// The threads of the HTTP server: one for each open connection, up to a limit; connections beyond it wait
// for a thread in a short queue, and beyond that in the kernel's. What a connection costs is bounded.
#pragma once
#include <httplib.h>

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"

namespace waymark {

class ConnectionPool : public httplib::TaskQueue {
 public:
  ConnectionPool(int threads, size_t max_waiting);
  // Waits while the queue is full: the listener then takes no further connections.
  void enqueue(std::function<void()> connection) override;
  void shutdown() override;
  bool HasWaiting();

 private:
  void Work();
  const size_t max_waiting_;
  absl::Mutex mutex_;
  std::deque<std::function<void()>> waiting_;  // guarded by mutex_
  bool stopping_ = false;                      // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace waymark
