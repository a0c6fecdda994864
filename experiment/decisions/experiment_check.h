// Whether an experiment can be run as it is described. Every error names the field, what it holds and what it
// takes.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "store/event_types.h"
#include "waymark/storage/experiments.pb.h"

namespace waymark {

inline constexpr int kMostArms = 20;

// What the record leaves open: salt, ramp, alpha, tuning, minimal run time and exposures.
void FillDefaults(storage::ExperimentRecord* record);

struct Surroundings {
  const EventTypes* types = nullptr;
  std::function<bool(const std::string&)> is_release;
  std::vector<storage::LayerRecord> layers;
  std::vector<storage::ExperimentRecord> experiments;  // that exist
};
absl::Status CheckExperiment(const storage::ExperimentRecord& record, const Surroundings& around);

// Whether `after` may replace `before`, which has been started: what the start has frozen is named.
absl::Status CheckUpdate(const storage::ExperimentRecord& before, const storage::ExperimentRecord& after);

absl::Status CheckLayer(const storage::LayerRecord& layer);

}  // namespace waymark
