// Until when work may go on. Work past a deadline stops within 10 ms and answers what it has.
#pragma once
#include "absl/time/time.h"
#include "store/clock.h"

namespace waymark {

// Cheap to copy; thread-safe.
class Deadline {
 public:
  static Deadline Never() { return Deadline(absl::InfiniteFuture(), Clock::Real()); }
  static Deadline After(absl::Duration time_left, const Clock* clock = Clock::Real()) {
    return Deadline(clock->Now() + time_left, clock);
  }
  static Deadline At(absl::Time when, const Clock* clock = Clock::Real()) { return Deadline(when, clock); }

  bool Expired() const { return when_ != absl::InfiniteFuture() && clock_->Now() >= when_; }
  absl::Duration Remaining() const { return when_ - clock_->Now(); }
  absl::Time when() const { return when_; }

 private:
  Deadline(absl::Time when, const Clock* clock) : when_(when), clock_(clock) {}
  absl::Time when_;
  const Clock* clock_;
};

}  // namespace waymark
