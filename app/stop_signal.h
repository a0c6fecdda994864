// SIGINT and SIGTERM as a flag that long work looks at between its steps. The second one ends the program at
// once.
//
//   StopSignal stop;
//   while (!stop.Requested() && More()) Step();
#pragma once
#include "absl/time/time.h"

namespace waymark {

// At most one at a time in a program.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  bool Requested() const;
  // Until the signal comes.
  void Wait() const;
};

}  // namespace waymark
