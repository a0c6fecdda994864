// How far long work has come: on a terminal one line that is written over, elsewhere a line every few
// seconds.
//
//   Progress progress("import items.jsonl");
//   progress.Update({.done = rows, .unit = "rows", .fraction = read / total});
//   progress.Finish();
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"

namespace waymark {

struct ProgressState {
  int64_t done = 0;
  std::string unit;                // "rows"
  std::optional<double> fraction;  // 0..1; none: the end is not known
  std::string note;                // "3 refused"
};

// «import a.jsonl: 12,000 rows, 4,000 rows/s, 40%, 5 s left, 3 refused».
std::string ProgressText(const std::string& what, const ProgressState& state, absl::Duration elapsed);
// 1234567 -> 1,234,567.
std::string WithThousands(int64_t number);
// 75 s -> 1 min 15 s.
std::string ShortDuration(absl::Duration duration);

// One thread.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  // Cheap: prints only when it is time.
  void Update(const ProgressState& state);
  // Leaves the terminal's line clean.
  void Finish();
  absl::Duration elapsed() const;

  // Clears the line that stands on the terminal, if any, so that a message can be printed.
  static void ClearLine();
  // Whether standard error is a terminal; what stands on its last line is written over.
  static bool OnTerminal();
  static void WriteOver(const std::string& line);

 private:
  const std::string what_;
  const absl::Time start_;
  absl::Time printed_;
};

}  // namespace waymark
