// The command line of waymark-train.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "training/distributed/launch.h"
#include "training/distributed/train_job.h"

namespace CLI {
class App;
}

namespace waymark {

struct TrainArguments {
  JobOptions job;
  LaunchFlags launch;
  int processes = 0;  // started here; 0: this one alone
  double checkpoint_interval_s = 60, timeout_s = 60;
  std::string scaling = "none", precision = "fp32", evict;  // evict: empty, not given
  std::filesystem::path report, events, losses;
  std::optional<double> price;
};

// Declares the options; they are read by the time the program is parsed.
void AddTrainArguments(CLI::App* app, TrainArguments* arguments);
// Who else says which rank this is, in words; "": nobody. For --processes, which must be alone in that.
std::string OtherLauncher(const TrainArguments& arguments);
// What the texts among them stand for.
void FinishTrainArguments(TrainArguments* arguments);

}  // namespace waymark
