#include "experiment/report/looks.h"

#include <algorithm>

namespace waymark {
namespace {

constexpr absl::Duration kLeastBetweenLooks = absl::Seconds(10);
constexpr double kShareOfAge = .01;

}  // namespace

bool LookIsDue(const storage::LooksRecord& looks, const storage::ExperimentRecord& record, absl::Time now) {
  if (record.state() != storage::ExperimentRecord::RUNNING) return false;
  if (looks.looks().empty()) return true;
  const absl::Time newest = absl::FromUnixMicros(looks.looks().rbegin()->time_us());
  const absl::Duration age = now - absl::FromUnixMicros(record.start_time_us());
  return now - newest >= std::max(kLeastBetweenLooks, age * kShareOfAge);
}

void AddLook(const std::vector<Comparison>& comparisons, absl::Time now, storage::LooksRecord* looks) {
  const bool any = std::any_of(comparisons.begin(), comparisons.end(),
                               [](const Comparison& comparison) { return comparison.problem.empty(); });
  if (!any) return;
  storage::LooksRecord::Look* look = looks->add_looks();
  look->set_time_us(absl::ToUnixMicros(now));
  for (const Comparison& comparison : comparisons) {
    storage::LooksRecord::Arm* arm = look->add_arms();
    arm->set_control_units(comparison.control_units);
    arm->set_treatment_units(comparison.treatment_units);
    if (!comparison.problem.empty()) continue;
    arm->set_estimate(comparison.absolute.estimate);
    arm->set_standard_error(comparison.absolute.standard_error);
    arm->set_low(comparison.absolute.low);
    arm->set_high(comparison.absolute.high);
    arm->set_p_value(comparison.absolute.p_value);
  }
}

}  // namespace waymark
