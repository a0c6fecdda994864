// How `waymark experiment create` is told what is compared: a file, options, or options over a file.
#pragma once
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "waymark/v1/experiment.pb.h"

namespace CLI {
class App;
}

namespace waymark {

struct ExperimentOptions {
  std::string file, id, hypothesis, description, event, unit, targeting, mode, layer;
  std::vector<double> slot;                   // of the layer: begin, end
  bool proportion = false;                    // the primary metric is whether there was one
  std::vector<std::string> arms, guardrails;  // NAME=RELEASE[:WEIGHT]; MEASURE=TOLERANCE
  double window_days = 7;
  int64_t min_exposures = 0;
  bool automatic_ramp = false;
  int looks = 0;  // planned; 0: none
  int64_t units = 0;
  std::string spending;
};

void AddExperimentOptions(CLI::App* command, ExperimentOptions* options);

// INVALID_ARGUMENT names the option.
absl::StatusOr<v1::Experiment> ExperimentOf(const ExperimentOptions& options);

}  // namespace waymark
