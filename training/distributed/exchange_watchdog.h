// Ends the process when an exchange does not end by itself: a backend that hangs in spite of its own timeout.
//
//   ExchangeWatchdog watchdog(rank, limit);
//   watchdog.Begin("adding up over ranks"); ...; watchdog.End();
#pragma once
#include <atomic>
#include <cstdint>
#include <thread>

#include "absl/time/time.h"

namespace waymark {

class ExchangeWatchdog {
 public:
  ExchangeWatchdog(int rank, absl::Duration limit);
  // `what` is kept as it is.
  void Begin(const char* what);
  void End() { deadline_ms_ = 0; }

 private:
  void Watch(const std::stop_token& stop);

  int rank_;
  absl::Duration limit_;
  std::atomic<const char*> what_{""};
  std::atomic<int64_t> deadline_ms_{0};
  std::jthread thread_;
};

}  // namespace waymark
