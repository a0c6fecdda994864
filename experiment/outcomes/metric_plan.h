// A metric, checked and ready to be fed with events.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "store/event_types.h"
#include "waymark/storage/experiments.pb.h"

namespace waymark {

// Which events count, and what each adds.
struct EventSource {
  EventTypeCode type = 0;
  storage::MetricRecord::Events::Value value = storage::MetricRecord::Events::COUNT;
  std::string surface;  // empty: any

  // None: the event is not of this source.
  std::optional<double> Of(const storage::EventRecord& event) const;
};

struct MetricPlan {
  std::string name;
  storage::MetricRecord::Kind kind = storage::MetricRecord::MEAN;
  EventSource events, denominator;
  double quantile = 0, cap = 0, cap_quantile = 0;
  int64_t window_us = 0;
  bool lower_is_better = false;
};

// INVALID_ARGUMENT begins with `field` («metrics[2]») and says what it takes.
absl::StatusOr<MetricPlan> PlanMetric(const storage::MetricRecord& metric, const EventTypes& types,
                                      const std::string& field);
// Names are there and differ; at least one metric.
absl::StatusOr<std::vector<MetricPlan>> PlanMetrics(const storage::ExperimentRecord& experiment,
                                                    const EventTypes& types);
// The place of the primary metric. INVALID_ARGUMENT with the nearest name.
absl::StatusOr<size_t> PrimaryMetric(const storage::ExperimentRecord& experiment);

// A file of metrics: {"metrics": [{"name": "clicks", "kind": "MEAN", "events": {"type": "click"}, "windowUs":
// ...}]}, as protobuf's JSON has MetricRecord. INVALID_ARGUMENT names what cannot be read.
absl::StatusOr<std::vector<storage::MetricRecord>> ReadMetrics(const std::string& json);

}  // namespace waymark
