// Training as a person follows it, and how a signal reaches it.
#pragma once
#include <stop_token>
#include <string>
#include <thread>

#include "app/stop_signal.h"
#include "training/recipe/train_models.h"

namespace waymark {

// «ranker: 40%, epoch 3, loss .61, 1 min 5 s left».
std::string TrainProgressText(const TrainProgress& progress);

// Prints what training reports: on a terminal one line that is written over, elsewhere one every few seconds;
// a finished stage keeps its line. One thread.
class TrainingProgress {
 public:
  void Update(const TrainProgress& progress);

 private:
  absl::Time printed_ = absl::InfinitePast();
};

// Asks for a stop when SIGINT or SIGTERM comes.
class StopBySignal {
 public:
  StopBySignal();
  std::stop_token token() const { return source_.get_token(); }
  bool Requested() const { return signal_.Requested(); }

 private:
  StopSignal signal_;
  std::stop_source source_;
  std::jthread watcher_;
};

}  // namespace waymark
