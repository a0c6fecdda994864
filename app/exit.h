// How a command ends: 0 done, 1 failed, 2 wrong usage. Messages go to standard error; standard output holds
// the result alone.
#pragma once
#include <string>

#include "absl/status/status.h"

namespace waymark {

inline constexpr int kDone = 0, kFailed = 1, kWrongUsage = 2;

// Prints «waymark: message» and answers kFailed or kWrongUsage.
int Fail(const absl::Status& status);
int FailUsage(const std::string& message);

// A line on standard error; in front of it whatever progress line stands there is cleared.
void Say(const std::string& message);

}  // namespace waymark
