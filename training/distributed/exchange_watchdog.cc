#include "training/distributed/exchange_watchdog.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace waymark {
namespace {

int64_t SteadyMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

ExchangeWatchdog::ExchangeWatchdog(int rank, absl::Duration limit, std::function<std::string()> who)
    : rank_(rank),
      limit_(limit),
      who_(std::move(who)),
      thread_([this](const std::stop_token& stop) { Watch(stop); }) {}

void ExchangeWatchdog::Begin(const char* what) {
  what_ = what;
  deadline_ms_ = SteadyMs() + absl::ToInt64Milliseconds(limit_);
}

void ExchangeWatchdog::Watch(const std::stop_token& stop) {
  int64_t seen = SteadyMs();
  while (!stop.stop_requested()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const int64_t now = SteadyMs(), deadline = deadline_ms_;
    // A process that was stopped itself gets its time again.
    if (now - seen > 5000 && deadline != 0) deadline_ms_ = now + absl::ToInt64Milliseconds(limit_);
    seen = now;
    if (deadline == 0 || deadline_ms_ == 0 || now < deadline_ms_) continue;
    const std::string who = who_();
    std::fprintf(stderr, "waymark-train: rank %d: %s has not ended within %s; %s%sthe process ends itself\n",
                 rank_, what_.load(), absl::FormatDuration(limit_).c_str(), who.c_str(),
                 who.empty() ? "" : "; ");
    std::fflush(stderr);
    std::_Exit(1);
  }
}

}  // namespace waymark
