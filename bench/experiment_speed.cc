// How fast units are assigned, and how long a report on many events takes, in seconds of one core.
//
//   build/release/bin/experiment_speed [units] [events]        # 1,000,000 and 10,000,000
#include <cstdio>
#include <ctime>
#include <random>
#include <string>

#include "experiment/assignment/assignment.h"
#include "experiment/report/report.h"

namespace waymark {
namespace {

constexpr int64_t kDayUs = int64_t{24} * 3600 * 1000 * 1000;

// Of the processor, so that a busy machine measures the same.
double Seconds(std::clock_t since) { return static_cast<double>(std::clock() - since) / CLOCKS_PER_SEC; }

class Numbers : public People {
 public:
  std::optional<UserNumber> NumberOf(const std::string& unit) const override {
    return std::stoull(unit.substr(2)) + 1;
  }
  std::string UnitOf(UserNumber number) const override { return "u:" + std::to_string(number - 1); }
};

void MeasureAssignment(HashVersion version, const char* name, size_t units) {
  AssignmentPlan plan;
  for (int e = 0; e < 3; ++e) {
    auto experiment = std::make_shared<ExperimentPlan>();
    experiment->id = experiment->salt = "experiment-" + std::to_string(e);
    experiment->hash_version = version;
    experiment->arms = {{"control", "r0", "", .5}, {"new", "r1", "", .5}};
    experiment->coverage = 1;
    experiment->ranges = ArmRanges({.5, .5}, 1);
    experiment->targeting =
        std::make_shared<const Targeting>(*Targeting::Parse("country IN (\"DE\", \"AT\")", {}));
    plan.experiments.push_back(std::move(experiment));
  }
  google::protobuf::Struct context;
  (*context.mutable_fields())["country"].set_string_value("DE");
  const auto nobody = [](const ExperimentPlan&, const std::string&) { return std::optional<int>(); };
  size_t treated = 0;
  const auto start = std::clock();
  for (size_t i = 0; i < units; ++i) {
    const std::string user = std::to_string(i);
    for (const AssignedArm& arm : Assign(plan, {.user_id = user, .context = &context}, nobody))
      treated += arm.arm == 1;
  }
  const double seconds = Seconds(start);
  std::printf("assign %-14s %zu units, 3 experiments with targeting: %.0f units/s (%.1f%% treated)\n", name,
              units, static_cast<double>(units) / seconds,
              100.0 * static_cast<double>(treated) / (3.0 * static_cast<double>(units)));
}

storage::ExperimentRecord Record() {
  storage::ExperimentRecord record;
  record.set_id("speed");
  record.set_alpha(.05);
  record.set_sequential_tuning(5000);
  record.set_lookback_us(14 * kDayUs);
  record.set_primary_metric("clicks");
  for (const char* name : {"control", "new"}) {
    auto& arm = *record.add_arms();
    arm.set_name(name);
    arm.set_weight(.5);
  }
  const std::pair<const char*, storage::MetricRecord::Kind> kinds[] = {
      {"clicks", storage::MetricRecord::MEAN},
      {"bought", storage::MetricRecord::PROPORTION},
      {"rate", storage::MetricRecord::RATIO},
      {"spend", storage::MetricRecord::MEAN},
      {"p90", storage::MetricRecord::QUANTILE}};
  for (const auto& [name, kind] : kinds) {
    auto& metric = *record.add_metrics();
    metric.set_name(name);
    metric.set_kind(kind);
    metric.set_window_us(7 * kDayUs);
    metric.mutable_events()->set_type(kind == storage::MetricRecord::PROPORTION ? "purchase" : "click");
    if (kind == storage::MetricRecord::RATIO) metric.mutable_denominator()->set_type("view");
    if (metric.name() == "spend") {
      metric.mutable_events()->set_type("purchase");
      metric.mutable_events()->set_value(storage::MetricRecord::Events::VALUE);
      metric.set_cap_quantile(.99);
    }
    if (kind == storage::MetricRecord::QUANTILE) metric.set_quantile(.9);
  }
  return record;
}

int MeasureReport(size_t units, size_t events) {
  const storage::ExperimentRecord record = Record();
  const EventTypes types;
  auto metrics = PlanMetrics(record, types);
  if (!metrics.ok()) {
    std::fprintf(stderr, "%s\n", metrics.status().ToString().c_str());
    return 1;
  }
  const Numbers numbers;
  Outcomes outcomes(record, *std::move(metrics), 0, &numbers);
  auto start = std::clock();
  for (size_t i = 0; i < units; ++i) {
    storage::ExposureRecord exposure;
    exposure.set_unit("u:" + std::to_string(i));
    exposure.set_arm(static_cast<int>(i % 2));
    exposure.set_segment(i % 3 == 0 ? "web" : "app");
    exposure.set_time_us(static_cast<int64_t>(i % 10) * kDayUs);
    outcomes.Enrol(exposure);
  }
  std::printf("enrol %zu units: %.2f s\n", units, Seconds(start));
  std::mt19937_64 random(1);
  const EventTypeCode codes[] = {event_code::kClick, event_code::kView, event_code::kPurchase};
  storage::EventRecord event;
  start = std::clock();
  for (size_t i = 0; i < events; ++i) {
    event.set_user(random() % units + 1);
    event.set_type(codes[random() % 3]);
    event.set_time_us(static_cast<int64_t>(random() % 20) * kDayUs);
    event.set_value(static_cast<double>(random() % 100));
    outcomes.Observe(event);
  }
  const double observed = Seconds(start);
  std::printf("take in %zu events: %.2f s (%.1f million a second)\n", events, observed,
              static_cast<double>(events) / observed / 1e6);
  start = std::clock();
  const ExperimentReport report =
      MakeReport({.record = &record, .outcomes = &outcomes, .now = absl::FromUnixMicros(30 * kDayUs)});
  std::printf("report on %zu events of %zu units, %zu metrics, 2 segments: %.2f s (%zu comparisons)\n",
              events, units, static_cast<size_t>(record.metrics_size()), Seconds(start),
              report.comparisons.size() + report.segments.size());
  return 0;
}

int Main(int argc, char** argv) {
  const size_t units = argc > 1 ? std::stoul(argv[1]) : 1'000'000;
  const size_t events = argc > 2 ? std::stoul(argv[2]) : 10'000'000;
  MeasureAssignment(HashVersion::kGrowthBookV2, "GrowthBook v2", units);
  MeasureAssignment(HashVersion::kPlanOut, "PlanOut", units);
  return MeasureReport(units, events);
}

}  // namespace
}  // namespace waymark

int main(int argc, char** argv) { return waymark::Main(argc, argv); }
