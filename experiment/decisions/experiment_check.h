// Whether an experiment can be run as it is described. Every error names the field, what it holds and what it
// takes.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "store/event_types.h"
#include "store/slot_name.h"
#include "waymark/storage/experiments.pb.h"

namespace waymark {

inline constexpr int kMostArms = 20;

// What the record leaves open: salt, ramp, alpha, tuning, minimal run time and exposures.
void FillDefaults(storage::ExperimentRecord* record);

struct Surroundings {
  const EventTypes* types = nullptr;
  std::function<bool(const std::string&)> is_release;
  std::function<bool(const SlotVariantId&)> is_slot_variant;
  std::vector<storage::LayerRecord> layers;
  std::vector<storage::ExperimentRecord> experiments;  // that exist
};
absl::Status CheckExperiment(const storage::ExperimentRecord& record, const Surroundings& around);

// Whether `after` may replace `before`, which has been started: what the start has frozen is named.
absl::Status CheckUpdate(const storage::ExperimentRecord& before, const storage::ExperimentRecord& after);

absl::Status CheckLayer(const storage::LayerRecord& layer);
// Whether no experiment that has not ended is in it: FAILED_PRECONDITION names those that are.
absl::Status CheckLayerIsFree(const std::string& id,
                              const std::vector<storage::ExperimentRecord>& experiments);
// Whether it holds, or will hold, units of its layer.
bool HoldsSlot(const storage::ExperimentRecord& record);

}  // namespace waymark
