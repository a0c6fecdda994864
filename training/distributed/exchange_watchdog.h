// Ends the process when an exchange does not end by itself: a backend that hangs in spite of its own timeout.
//
//   ExchangeWatchdog watchdog(rank, limit);
//   watchdog.Begin("adding up over ranks"); ...; watchdog.End();
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "absl/time/time.h"

namespace waymark {

class ExchangeWatchdog {
 public:
  // who: names those that are missing, in a bounded time; asked when an exchange has not ended.
  ExchangeWatchdog(int rank, absl::Duration limit, std::function<std::string()> who);
  // `what` is kept as it is.
  void Begin(const char* what);
  void End() { deadline_ms_ = 0; }

 private:
  void Watch(const std::stop_token& stop);

  int rank_;
  absl::Duration limit_;
  std::function<std::string()> who_;
  std::atomic<const char*> what_{""};
  std::atomic<int64_t> deadline_ms_{0};
  std::jthread thread_;
};

}  // namespace waymark
