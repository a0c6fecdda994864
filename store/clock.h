// Time is given in, so that every decision can be replayed.
#pragma once
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace waymark {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time Now() const = 0;
  // The machine's clock; lives for ever.
  static const Clock* Real();
};

// For tests: stands still until it is moved.
class FixedClock : public Clock {
 public:
  explicit FixedClock(absl::Time now) : now_(now) {}
  absl::Time Now() const override { return now_; }
  void Set(absl::Time now) { now_ = now; }

 private:
  absl::Time now_;
};

}  // namespace waymark
