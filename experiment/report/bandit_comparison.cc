#include "experiment/report/bandit_comparison.h"

#include "experiment/statistics/confidence_sequence.h"
#include "experiment/statistics/power.h"
#include "experiment/statistics/welch.h"

namespace waymark {
namespace {

using statistics::Moments;
using storage::MetricRecord;

// sum(y / p) / sum(1 / p) by arm, and how many units there are.
struct WeightedMeans {
  std::vector<double> weight, sum, units;
  double total = 0;

  double Of(size_t arm) const { return weight[arm] > 0 ? sum[arm] / weight[arm] : 0; }
};

WeightedMeans ReadMeans(const OutcomeTable& table, size_t metric, double cap) {
  const size_t arms = table.options().arms;
  WeightedMeans means{std::vector<double>(arms), std::vector<double>(arms), std::vector<double>(arms)};
  for (OutcomeTable::Row row = 0; row < table.rows(); ++row) {
    if (table.excluded(row)) continue;
    const OutcomeTable::Unit& unit = table.unit(row);
    const auto arm = static_cast<size_t>(unit.arm);
    means.weight[arm] += 1 / unit.propensity;
    means.sum[arm] += table.Value(row, metric, cap) / unit.propensity;
    ++means.units[arm];
    ++means.total;
  }
  return means;
}

statistics::Effect MeanEffect(const Moments& moments) {
  return {moments.Mean(), moments.Variance() / moments.n, moments.n, moments.n - 1};
}

}  // namespace

Comparison CompareWeighted(const OutcomeTable& table, size_t metric, double cap, size_t arm,
                           const TestSettings& settings) {
  Comparison comparison;
  const MetricPlan& plan = table.metrics()[metric];
  if (plan.kind == MetricRecord::RATIO || plan.kind == MetricRecord::QUANTILE) {
    comparison.problem = "a bandit compares means and proportions only: its units weigh differently";
    return comparison;
  }
  const WeightedMeans means = ReadMeans(table, metric, cap);
  comparison.control_units = means.units[0];
  comparison.treatment_units = means.units[arm];
  comparison.control_mean = means.Of(0);
  comparison.treatment_mean = means.Of(arm);
  if (means.units[0] < 2 || means.units[arm] < 2) {
    comparison.problem = "an arm has less than two units";
    return comparison;
  }
  Moments differences;
  for (OutcomeTable::Row row = 0; row < table.rows(); ++row) {
    if (table.excluded(row)) continue;
    const OutcomeTable::Unit& unit = table.unit(row);
    double difference = comparison.treatment_mean - comparison.control_mean;
    const double value = table.Value(row, metric, cap);
    if (unit.arm == 0) difference -= (value - comparison.control_mean) / unit.propensity;
    if (unit.arm == static_cast<int>(arm))
      difference += (value - comparison.treatment_mean) / unit.propensity;
    differences.Add(difference);
  }
  const statistics::Effect effect = MeanEffect(differences);
  comparison.absolute =
      statistics::ConfidenceSequence(effect, {.alpha = settings.alpha, .tuning = settings.tuning});
  comparison.fixed_horizon = statistics::WelchTest(effect, settings.alpha);
  comparison.bayes = statistics::Bayes(effect, {}, settings.alpha);
  // Of a mean over N units, as if each arm had half of them at a quarter of the variance.
  comparison.minimal_detectable_effect =
      statistics::MinimalDetectableEffect({.control_variance = differences.Variance() / 4,
                                           .treatment_variance = differences.Variance() / 4,
                                           .alpha = settings.alpha},
                                          differences.n / 2);
  return comparison;
}

ArmCounts CountOutcomes(const OutcomeTable& table, int64_t now_us) {
  const size_t arms = table.options().arms, primary = table.options().primary;
  const int64_t window_us = table.metrics()[primary].window_us;
  ArmCounts counts{std::vector<double>(arms), std::vector<double>(arms)};
  for (OutcomeTable::Row row = 0; row < table.rows(); ++row) {
    const OutcomeTable::Unit& unit = table.unit(row);
    if (table.excluded(row) || unit.exposed_us + window_us > now_us) continue;
    const auto arm = static_cast<size_t>(unit.arm);
    ++counts.units[arm];
    counts.successes[arm] += table.Value(row, primary, 0);
  }
  return counts;
}

std::vector<BanditResult> BanditArms(const OutcomeTable& table, const storage::ExperimentRecord& record,
                                     const std::vector<double>& shares, int64_t now_us) {
  const size_t primary = table.options().primary;
  const WeightedMeans means = ReadMeans(table, primary, 0);
  const ArmCounts counts = CountOutcomes(table, now_us);
  std::vector<BanditResult> results;
  for (size_t arm = 0; arm < table.options().arms; ++arm) {
    const auto place = static_cast<int>(arm);
    BanditResult result{.arm = record.arms(place).name(),
                        .share = arm < shares.size() ? shares[arm] : record.arms(place).weight(),
                        .units = counts.units[arm],
                        .successes = counts.successes[arm],
                        .mean = means.Of(arm)};
    Moments values;
    for (OutcomeTable::Row row = 0; row < table.rows(); ++row) {
      if (table.excluded(row)) continue;
      const OutcomeTable::Unit& unit = table.unit(row);
      const bool own = unit.arm == place;
      values.Add(result.mean + (own ? (table.Value(row, primary, 0) - result.mean) / unit.propensity : 0));
    }
    if (values.n >= 2) {
      const auto interval = statistics::ConfidenceSequence(
          MeanEffect(values), {.alpha = record.alpha(), .tuning = record.sequential_tuning()});
      result.low = interval.low;
      result.high = interval.high;
    }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace waymark
