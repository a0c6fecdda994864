#include "experiment/offpolicy/unit_policy.h"

#include "absl/strings/str_cat.h"
#include "experiment/offpolicy/doubly_robust.h"
#include "experiment/offpolicy/inverse_propensity.h"
#include "experiment/offpolicy/self_normalised.h"
#include "experiment/statistics/moments.h"

namespace waymark {
namespace {

using statistics::Moments;

// Weight of the arm's mean beside the cell's own units: cells with few units lean on it.
constexpr double kPriorUnits = 20;

// Means by half, segment and arm.
class Model {
 public:
  explicit Model(const OutcomeTable& table)
      : arms_(table.options().arms), cells_(2 * table.segments() * arms_), means_(2 * arms_) {}

  void Add(size_t half, const OutcomeTable::Unit& unit, double value) {
    Cell(half, unit.segment, static_cast<size_t>(unit.arm)).Add(value);
    means_[half * arms_ + static_cast<size_t>(unit.arm)].Add(value);
  }
  // Of a unit of `half`: what the other half says.
  double Predict(size_t half, size_t segment, size_t arm) {
    const Moments& mean = means_[(1 - half) * arms_ + arm];
    const Moments& cell = Cell(1 - half, segment, arm);
    const double n = cell.n + kPriorUnits;
    return (cell.sum + kPriorUnits * mean.Mean()) / n;
  }

 private:
  Moments& Cell(size_t half, size_t segment, size_t arm) {
    return cells_[(half * (cells_.size() / (2 * arms_)) + segment) * arms_ + arm];
  }
  const size_t arms_;
  std::vector<Moments> cells_, means_;
};

}  // namespace

std::vector<LoggedDecision> DecisionsOf(const OutcomeTable& table, size_t metric, double cap,
                                        const std::vector<double>& shares) {
  Model model(table);
  for (OutcomeTable::Row row = 0; row < table.rows(); ++row) {
    if (!table.excluded(row)) model.Add(row % 2, table.unit(row), table.Value(row, metric, cap));
  }
  std::vector<LoggedDecision> log;
  for (OutcomeTable::Row row = 0; row < table.rows(); ++row) {
    if (table.excluded(row)) continue;
    const OutcomeTable::Unit& unit = table.unit(row);
    const auto arm = static_cast<size_t>(unit.arm);
    LoggedDecision decision{.reward = table.Value(row, metric, cap),
                            .logged_propensity = unit.propensity,
                            .target_propensity = shares[arm],
                            .predicted = model.Predict(row % 2, unit.segment, arm)};
    for (size_t other = 0; other < shares.size(); ++other) {
      decision.predicted_under_target += shares[other] * model.Predict(row % 2, unit.segment, other);
    }
    log.push_back(decision);
  }
  return log;
}

absl::StatusOr<PolicyAnswer> EstimatePolicy(const OutcomeTable& table, size_t metric, double cap,
                                            const std::vector<double>& shares,
                                            const OffPolicyOptions& options) {
  const auto kind = table.metrics()[metric].kind;
  if (kind != storage::MetricRecord::MEAN && kind != storage::MetricRecord::PROPORTION) {
    return absl::InvalidArgumentError(
        absl::StrCat("metric '", table.metrics()[metric].name,
                     "' is a ratio or a quantile; it takes a MEAN or a PROPORTION"));
  }
  const std::vector<LoggedDecision> log = DecisionsOf(table, metric, cap, shares);
  PolicyAnswer answer{.units = static_cast<int64_t>(log.size())};
  Moments logged;
  for (const LoggedDecision& decision : log) logged.Add(decision.reward);
  answer.logged_value = logged.Mean();
  const std::pair<const char*, absl::StatusOr<OffPolicyEstimate>> all[] = {
      {"ips", InversePropensity(log, options)},
      {"snips", SelfNormalised(log, options)},
      {"doubly_robust", DoublyRobust(log, options)}};
  for (const auto& [method, estimate] : all) {
    if (!estimate.ok()) return estimate.status();
    answer.estimates.push_back({method, *estimate});
  }
  return answer;
}

}  // namespace waymark
