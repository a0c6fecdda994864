#include "experiment/outcomes/metric_plan.h"

#include <google/protobuf/util/json_util.h>

#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "catalog/nearest_name.h"

namespace waymark {
namespace {

using storage::MetricRecord;

absl::Status Invalid(const std::string& field, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(field, what));
}

std::string Nearest(const std::string& name, const std::vector<std::string_view>& known) {
  const std::string nearest = NearestName(name, known);
  if (!nearest.empty()) return absl::StrCat("; did you mean '", nearest, "'?");
  std::string all = "; there are ";
  for (size_t i = 0; i < known.size(); ++i) {
    absl::StrAppend(&all, i == 0 ? "'" : ", '", std::string(known[i]), "'");
  }
  return known.empty() ? std::string() : all;
}

absl::StatusOr<EventSource> PlanSource(const MetricRecord::Events& events, const EventTypes& types,
                                       const std::string& field) {
  const EventType* type = types.Find(events.type());
  if (type != nullptr) return EventSource{type->code, events.value(), events.surface()};
  std::vector<std::string_view> known;
  for (const EventType& one : types.All()) known.push_back(one.name);
  return Invalid(field,
                 absl::StrCat(".type '", events.type(), "' is no event type", Nearest(events.type(), known)));
}

}  // namespace

std::optional<double> EventSource::Of(const storage::EventRecord& event) const {
  if (event.type() != type || (!surface.empty() && event.surface() != surface)) return std::nullopt;
  switch (value) {
    case MetricRecord::Events::VALUE:
      return event.has_value() ? event.value() : 0;
    case MetricRecord::Events::REVENUE: {
      double revenue = 0;
      for (const storage::EventItem& item : event.items())
        revenue += item.price() * std::max(1.0, item.quantity());
      return revenue;
    }
    default:
      return 1;
  }
}

// Fields that the metric's kind has no use for.
absl::Status CheckUnused(const MetricRecord& metric, const std::string& field) {
  const std::string kind = MetricRecord::Kind_Name(metric.kind());
  if (metric.kind() != MetricRecord::RATIO && metric.has_denominator()) {
    return Invalid(field,
                   absl::StrCat(".denominator is for a RATIO alone, and this is a ", kind, "; leave it out"));
  }
  if (metric.kind() != MetricRecord::QUANTILE && metric.quantile() != 0) {
    return Invalid(field,
                   absl::StrCat(".quantile is for a QUANTILE alone, and this is a ", kind, "; leave it out"));
  }
  const bool capped = metric.cap() != 0 || metric.cap_quantile() != 0;
  if (capped && (metric.kind() == MetricRecord::PROPORTION || metric.kind() == MetricRecord::QUANTILE)) {
    return Invalid(
        field, absl::StrCat(".cap and .cap_quantile cut the sums of a MEAN or a RATIO, and this is a ", kind,
                            "; leave them out"));
  }
  return absl::OkStatus();
}

absl::StatusOr<MetricPlan> PlanMetric(const MetricRecord& metric, const EventTypes& types,
                                      const std::string& field) {
  if (metric.name().empty()) return Invalid(field, ".name is empty: give the metric a name");
  if (metric.kind() == MetricRecord::KIND_UNSPECIFIED) {
    return Invalid(field, ".kind is not set; it takes MEAN, PROPORTION, RATIO or QUANTILE");
  }
  if (metric.window_us() <= 0) {
    return Invalid(field, absl::StrCat(".window is ", metric.window_us(),
                                       " us; events count within a window that is over 0, such as 7 days"));
  }
  if (metric.kind() == MetricRecord::QUANTILE && !(metric.quantile() > 0 && metric.quantile() < 1)) {
    return Invalid(field, absl::StrCat(".quantile is ", metric.quantile(), "; it lies between 0 and 1"));
  }
  if (metric.cap() < 0 || !std::isfinite(metric.cap())) {
    return Invalid(field,
                   absl::StrCat(".cap is ", metric.cap(), "; it takes a number from 0 on (0: no cap)"));
  }
  if (metric.cap_quantile() < 0 || metric.cap_quantile() >= 1) {
    return Invalid(
        field, absl::StrCat(".cap_quantile is ", metric.cap_quantile(), "; it lies in [0, 1) (0: no cap)"));
  }
  if (absl::Status status = CheckUnused(metric, field); !status.ok()) return status;
  MetricPlan plan{.name = metric.name(),
                  .kind = metric.kind(),
                  .quantile = metric.quantile(),
                  .cap = metric.cap(),
                  .cap_quantile = metric.cap_quantile(),
                  .window_us = metric.window_us(),
                  .lower_is_better = metric.lower_is_better()};
  auto events = PlanSource(metric.events(), types, absl::StrCat(field, ".events"));
  if (!events.ok()) return events.status();
  plan.events = *std::move(events);
  if (metric.kind() != MetricRecord::RATIO) return plan;
  auto denominator = PlanSource(metric.denominator(), types, absl::StrCat(field, ".denominator"));
  if (!denominator.ok()) return denominator.status();
  plan.denominator = *std::move(denominator);
  return plan;
}

absl::StatusOr<std::vector<MetricPlan>> PlanMetrics(const storage::ExperimentRecord& experiment,
                                                    const EventTypes& types) {
  std::vector<MetricPlan> plans;
  std::set<std::string> names;
  for (int i = 0; i < experiment.metrics_size(); ++i) {
    const std::string field = absl::StrCat("metrics[", i, "]");
    auto plan = PlanMetric(experiment.metrics(i), types, field);
    if (!plan.ok()) return plan.status();
    if (!names.insert(plan->name).second) {
      return Invalid(field, absl::StrCat(".name '", plan->name, "' is there twice: names differ"));
    }
    plans.push_back(*std::move(plan));
  }
  if (plans.empty()) return Invalid("metrics", " is empty: an experiment measures at least one metric");
  return plans;
}

absl::StatusOr<size_t> PrimaryMetric(const storage::ExperimentRecord& experiment) {
  std::vector<std::string_view> known;
  for (int i = 0; i < experiment.metrics_size(); ++i) {
    if (experiment.metrics(i).name() == experiment.primary_metric()) return static_cast<size_t>(i);
    known.push_back(experiment.metrics(i).name());
  }
  return Invalid("primary_metric",
                 absl::StrCat(" '", experiment.primary_metric(), "' is not among the metrics",
                              Nearest(experiment.primary_metric(), known)));
}

absl::StatusOr<std::vector<MetricRecord>> ReadMetrics(const std::string& json) {
  storage::ExperimentRecord record;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &record);
  if (!status.ok()) return Invalid("metrics file", absl::StrCat(": ", std::string(status.message())));
  return std::vector<MetricRecord>(record.metrics().begin(), record.metrics().end());
}

}  // namespace waymark
