#include "app/exit.h"

#include <cstdio>

#include "app/progress.h"

namespace waymark {

void Say(const std::string& message) {
  Progress::ClearLine();
  std::fprintf(stderr, "%s\n", message.c_str());
  std::fflush(stderr);
}

int Fail(const absl::Status& status) {
  Say("waymark: " + std::string(status.message().empty() ? absl::StatusCodeToString(status.code())
                                                         : std::string(status.message())));
  return kFailed;
}

int FailUsage(const std::string& message) {
  Say("waymark: " + message);
  return kWrongUsage;
}

}  // namespace waymark
