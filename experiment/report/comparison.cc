#include "experiment/report/comparison.h"

#include <algorithm>

#include "experiment/statistics/confidence_sequence.h"
#include "experiment/statistics/cuped.h"
#include "experiment/statistics/power.h"
#include "experiment/statistics/quantile_metric.h"
#include "experiment/statistics/ratio_metric.h"
#include "experiment/statistics/welch.h"
#include "experiment/statistics/winsorised.h"

namespace waymark {
namespace {

using statistics::ArmEstimate;
using statistics::PairMoments;
using statistics::Scale;
using storage::MetricRecord;

void Fill(const ArmEstimate& control, const ArmEstimate& treatment, const TestSettings& settings,
          Comparison* comparison) {
  comparison->control_units = control.n;
  comparison->treatment_units = treatment.n;
  comparison->control_mean = control.unadjusted_mean;
  comparison->treatment_mean = treatment.unadjusted_mean;
  const auto absolute = statistics::EffectOf(control, treatment, Scale::kAbsolute);
  if (!absolute.ok()) {
    comparison->problem = std::string(absolute.status().message());
    return;
  }
  const statistics::ConfidenceSequenceOptions sequence{.alpha = settings.alpha, .tuning = settings.tuning};
  comparison->absolute = statistics::ConfidenceSequence(*absolute, sequence);
  comparison->fixed_horizon = statistics::WelchTest(*absolute, settings.alpha);
  comparison->bayes = statistics::Bayes(*absolute, {}, settings.alpha);
  comparison->minimal_detectable_effect =
      statistics::MinimalDetectableEffect({.control_variance = control.variance,
                                           .treatment_variance = treatment.variance,
                                           .alpha = settings.alpha},
                                          std::min(control.n, treatment.n));
  const auto relative = statistics::EffectOf(control, treatment, Scale::kRelative);
  if (relative.ok()) comparison->relative = statistics::ConfidenceSequence(*relative, sequence);
}

}  // namespace

double CapOf(const OutcomeTable& table, size_t metric, int64_t until_us) {
  const MetricPlan& plan = table.metrics()[metric];
  if (plan.cap_quantile == 0) return plan.cap;
  std::vector<double> all;
  for (const std::vector<double>& values : table.Values(metric, until_us))
    all.insert(all.end(), values.begin(), values.end());
  const double cap = statistics::WinsorCap(all, plan.cap_quantile, true);
  return plan.cap > 0 ? std::min(cap, plan.cap) : cap;
}

Comparison CompareSums(const MetricPlan& metric, const std::vector<PairMoments>& groups, size_t arm,
                       const TestSettings& settings) {
  Comparison comparison;
  if (metric.kind == MetricRecord::RATIO) {
    const auto control = statistics::RatioOf(groups[0]), treatment = statistics::RatioOf(groups[arm]);
    for (const auto* side : {&control, &treatment}) {
      if (!side->ok()) comparison.problem = std::string(side->status().message());
    }
    if (comparison.problem.empty()) Fill(*control, *treatment, settings, &comparison);
    return comparison;
  }
  PairMoments pooled;
  for (const PairMoments& group : groups) pooled.Merge(group);
  const double theta = statistics::CupedTheta(pooled);
  const ArmEstimate control = statistics::CupedMean(groups[0], theta);
  Fill(control, statistics::CupedMean(groups[arm], theta), settings, &comparison);
  const double plain = groups[0].y.Variance();
  if (plain > 0) comparison.variance_reduction = std::max(0.0, 1 - control.variance / plain);
  return comparison;
}

Comparison CompareQuantiles(const MetricPlan& metric, const std::vector<std::vector<double>>& values,
                            size_t arm, const TestSettings& settings) {
  Comparison comparison;
  const auto control = statistics::QuantileEstimate(values[0], metric.quantile);
  const auto treatment = statistics::QuantileEstimate(values[arm], metric.quantile);
  for (const auto* side : {&control, &treatment}) {
    if (!side->ok()) comparison.problem = std::string(side->status().message());
  }
  if (comparison.problem.empty()) Fill(*control, *treatment, settings, &comparison);
  return comparison;
}

std::string BestArm(const std::vector<Comparison>& primary, double alpha) {
  const Comparison* best = nullptr;
  const auto gain = [](const Comparison& c) {
    return c.lower_is_better ? -c.absolute.estimate : c.absolute.estimate;
  };
  for (const Comparison& comparison : primary) {
    if (!comparison.problem.empty() || comparison.adjusted_p >= alpha || gain(comparison) <= 0) continue;
    if (best == nullptr || gain(comparison) > gain(*best)) best = &comparison;
  }
  return best == nullptr ? std::string() : best->arm;
}

}  // namespace waymark
