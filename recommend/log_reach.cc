#include "recommend/log_reach.h"

namespace waymark {

LogOffset LogReach::position() const {
  std::lock_guard lock(mutex_);
  return position_;
}

void LogReach::Set(LogOffset position) {
  {
    std::lock_guard lock(mutex_);
    position_ = position;
  }
  moved_.notify_all();
}

bool LogReach::WaitFor(LogOffset offset, absl::Time until) const {
  std::unique_lock lock(mutex_);
  const auto reached = [&] { return position_ >= offset; };
  if (until == absl::InfiniteFuture()) {
    moved_.wait(lock, reached);
    return true;
  }
  return moved_.wait_until(lock, absl::ToChronoTime(until), reached);
}

}  // namespace waymark
