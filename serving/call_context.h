// What a handler knows of the call that it answers, whichever transport brought it.
#pragma once
#include <functional>

#include "absl/status/status.h"
#include "candidates/deadline.h"

namespace waymark {

struct CallContext {
  Deadline deadline = Deadline::Never();
  // Whether the caller has gone away. Long work asks between its steps.
  std::function<bool()> cancelled = [] { return false; };

  // OK while the call is worth going on with.
  absl::Status Check() const {
    if (cancelled()) return absl::CancelledError("the caller has gone away");
    if (deadline.Expired()) return absl::DeadlineExceededError("the deadline has passed");
    return absl::OkStatus();
  }
};

}  // namespace waymark
