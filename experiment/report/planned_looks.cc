#include "experiment/report/planned_looks.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "experiment/statistics/group_sequential.h"

namespace waymark {
namespace {

using storage::ExperimentRecord;
using storage::LooksRecord;

// How many of the looks the units reach.
int LooksReached(const ExperimentRecord::PlannedLooks& plan, int64_t units) {
  const double share = static_cast<double>(units) / static_cast<double>(plan.units());
  return static_cast<int>(std::min<double>(plan.looks(), std::floor(share * plan.looks() * (1 + 1e-12))));
}

// By arm, the first look at which its boundary was crossed: what is seen later changes no decision.
std::map<std::string, double> GainsAtCrossing(const std::vector<PlannedLookResult>& results,
                                              bool lower_is_better) {
  std::map<std::string, double> gains;
  for (const PlannedLookResult& result : results) {
    if (result.crossed) gains.try_emplace(result.arm, lower_is_better ? -result.estimate : result.estimate);
  }
  return gains;
}

}  // namespace

bool PlannedLookIsDue(const ExperimentRecord& record, const LooksRecord& looks, int64_t units) {
  if (!record.has_planned_looks() || record.state() != ExperimentRecord::RUNNING) return false;
  const int taken =
      looks.planned().empty() ? 0 : LooksReached(record.planned_looks(), looks.planned().rbegin()->units());
  return LooksReached(record.planned_looks(), units) > taken;
}

void AddPlannedLook(const ExperimentRecord& record, const std::vector<Comparison>& comparisons, int64_t units,
                    absl::Time now, LooksRecord* looks) {
  for (const Comparison& comparison : comparisons) {
    if (!comparison.problem.empty() || !(comparison.fixed_horizon.standard_error > 0)) return;
  }
  LooksRecord::PlannedLook* look = looks->add_planned();
  look->set_time_us(absl::ToUnixMicros(now));
  look->set_units(units);
  look->set_share(
      std::min(1.0, static_cast<double>(units) / static_cast<double>(record.planned_looks().units())));
  for (const Comparison& comparison : comparisons) {
    LooksRecord::Arm* arm = look->add_arms();
    arm->set_control_units(comparison.control_units);
    arm->set_treatment_units(comparison.treatment_units);
    arm->set_estimate(comparison.fixed_horizon.estimate);
    arm->set_standard_error(comparison.fixed_horizon.standard_error);
    arm->set_p_value(comparison.fixed_horizon.p_value);
  }
}

absl::StatusOr<std::vector<PlannedLookResult>> JudgePlannedLooks(const ExperimentRecord& record,
                                                                 const LooksRecord& looks) {
  std::vector<double> shares;
  for (const LooksRecord::PlannedLook& look : looks.planned()) shares.push_back(look.share());
  if (shares.empty()) return std::vector<PlannedLookResult>();
  if (shares.back() < 1) shares.push_back(1);  // what is spent so far does not hang on when the others come
  const int treatments = record.arms_size() - 1;
  const auto boundaries = statistics::GroupSequential(
      shares, {.alpha = record.alpha() / treatments,
               .spending = record.planned_looks().spending() == ExperimentRecord::PlannedLooks::POCOCK
                               ? statistics::Spending::kPocock
                               : statistics::Spending::kObrienFleming});
  if (!boundaries.ok()) return boundaries.status();
  std::vector<PlannedLookResult> results;
  for (int l = 0; l < looks.planned_size(); ++l) {
    const LooksRecord::PlannedLook& look = looks.planned(l);
    const statistics::Boundary& boundary = (*boundaries)[static_cast<size_t>(l)];
    for (int arm = 0; arm < std::min(treatments, look.arms_size()); ++arm) {
      const LooksRecord::Arm& seen = look.arms(arm);
      const double z = seen.estimate() / seen.standard_error();
      results.push_back({.time = absl::FromUnixMicros(look.time_us()),
                         .arm = record.arms(arm + 1).name(),
                         .units = look.units(),
                         .share = look.share(),
                         .estimate = seen.estimate(),
                         .standard_error = seen.standard_error(),
                         .p_value = seen.p_value(),
                         .boundary_p = boundary.nominal_p,
                         .low = seen.estimate() - boundary.z * seen.standard_error(),
                         .high = seen.estimate() + boundary.z * seen.standard_error(),
                         .crossed = std::abs(z) >= boundary.z});
    }
  }
  return results;
}

std::string PlannedWinner(const std::vector<PlannedLookResult>& results, bool lower_is_better) {
  std::string best;
  double most = 0;
  for (const auto& [arm, gain] : GainsAtCrossing(results, lower_is_better)) {
    if (gain > most) best = arm, most = gain;
  }
  return best;
}

bool PlannedAllWorse(const std::vector<PlannedLookResult>& results, bool lower_is_better, int arms) {
  const auto gains = GainsAtCrossing(results, lower_is_better);
  return static_cast<int>(gains.size()) == arms - 1 &&
         std::all_of(gains.begin(), gains.end(), [](const auto& gain) { return gain.second < 0; });
}

}  // namespace waymark
