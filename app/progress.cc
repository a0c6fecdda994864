#include "app/progress.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"

namespace waymark {

namespace {

constexpr absl::Duration kTerminalInterval = absl::Milliseconds(200);
constexpr absl::Duration kLogInterval = absl::Seconds(5);
std::atomic<bool> line_stands{false};

}  // namespace

std::string WithThousands(int64_t number) {
  const std::string digits = absl::StrCat(number < 0 ? -number : number);
  std::string text = number < 0 ? "-" : "";
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text.push_back(',');
    text.push_back(digits[i]);
  }
  return text;
}

std::string ShortDuration(absl::Duration duration) {
  const int64_t seconds = absl::ToInt64Seconds(duration + absl::Milliseconds(500));
  if (seconds < 60) return absl::StrCat(seconds, " s");
  if (seconds < 3600) return absl::StrCat(seconds / 60, " min ", seconds % 60, " s");
  return absl::StrCat(seconds / 3600, " h ", seconds / 60 % 60, " min");
}

std::string ProgressText(const std::string& what, const ProgressState& state, absl::Duration elapsed) {
  std::string text = absl::StrCat(what, ": ", WithThousands(state.done), " ", state.unit);
  const double seconds = absl::ToDoubleSeconds(elapsed);
  if (seconds > 0.05) {
    absl::StrAppend(&text, ", ", WithThousands(static_cast<int64_t>(state.done / seconds)), " ", state.unit,
                    "/s");
  }
  if (state.fraction) {
    absl::StrAppendFormat(&text, ", %.0f%%", 100 * *state.fraction);
    if (*state.fraction > 0.001 && *state.fraction < 1 && seconds > 0.5) {
      absl::StrAppend(&text, ", ",
                      ShortDuration(absl::Seconds(seconds * (1 - *state.fraction) / *state.fraction)),
                      " left");
    }
  }
  if (!state.note.empty()) absl::StrAppend(&text, ", ", state.note);
  return text;
}

Progress::Progress(std::string what) : what_(std::move(what)), start_(absl::Now()), printed_(start_) {}

Progress::~Progress() { Finish(); }

absl::Duration Progress::elapsed() const { return absl::Now() - start_; }

void Progress::Update(const ProgressState& state) {
  const absl::Time now = absl::Now();
  if (now - printed_ < (OnTerminal() ? kTerminalInterval : kLogInterval)) return;
  printed_ = now;
  const std::string text = ProgressText(what_, state, now - start_);
  if (OnTerminal()) {
    WriteOver(text);
  } else {
    std::fprintf(stderr, "%s\n", text.c_str());
    std::fflush(stderr);
  }
}

bool Progress::OnTerminal() {
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  return terminal;
}

void Progress::WriteOver(const std::string& line) {
  std::fprintf(stderr, "\r\033[K%s", line.c_str());
  std::fflush(stderr);
  line_stands = true;
}

void Progress::Finish() { ClearLine(); }

void Progress::ClearLine() {
  if (!line_stands.exchange(false)) return;
  std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
}

}  // namespace waymark
