#include "app/training_progress.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "app/exit.h"
#include "app/progress.h"

namespace waymark {

std::string TrainProgressText(const TrainProgress& progress) {
  std::string text = absl::StrFormat("%s: %.0f%%", progress.stage, 100 * progress.done);
  if (!progress.detail.empty()) absl::StrAppend(&text, ", ", progress.detail);
  if (progress.time_left < absl::InfiniteDuration() && !progress.stage_done) {
    absl::StrAppend(&text, ", ", ShortDuration(progress.time_left), " left");
  }
  return text;
}

void TrainingProgress::Update(const TrainProgress& progress) {
  const std::string text = TrainProgressText(progress);
  if (progress.stage_done) {
    Say(text);
    return;
  }
  const absl::Time now = absl::Now();
  const bool terminal = Progress::OnTerminal();
  if (now - printed_ < (terminal ? absl::Milliseconds(200) : absl::Seconds(5))) return;
  printed_ = now;
  if (terminal) {
    Progress::WriteOver(text);
  } else {
    Say(text);
  }
}

StopBySignal::StopBySignal()
    : watcher_([this](std::stop_token ended) {
        while (!ended.stop_requested() && !signal_.Requested()) {
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
        if (signal_.Requested()) source_.request_stop();
      }) {}

}  // namespace waymark
