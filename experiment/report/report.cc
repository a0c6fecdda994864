#include "experiment/report/report.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "experiment/report/bandit_comparison.h"
#include "experiment/report/comparison.h"
#include "experiment/report/judgement.h"
#include "experiment/statistics/benjamini_hochberg.h"
#include "experiment/statistics/confidence_sequence.h"
#include "experiment/statistics/holm.h"

namespace waymark {
namespace {

using statistics::PairMoments;
using statistics::SampleRatioVerdict;
using storage::ExperimentRecord;
using storage::MetricRecord;

// A larger share of units that were seen in two arms says that something assigns wrongly.
constexpr double kManyConflicts = 0.01;

TestSettings SettingsOf(const ExperimentRecord& record) {
  return {record.alpha(), record.sequential_tuning()};
}

void Name(const ExperimentRecord& record, const MetricPlan& metric, size_t arm, const std::string& segment,
          Comparison* comparison) {
  comparison->metric = metric.name;
  comparison->arm = record.arms(static_cast<int>(arm)).name();
  comparison->segment = segment;
  comparison->primary = metric.name == record.primary_metric();
  comparison->lower_is_better = metric.lower_is_better;
}

using Adjust = std::vector<double> (*)(absl::Span<const double>);
void Correct(Adjust adjust, const std::vector<Comparison*>& family) {
  std::vector<double> p_values;
  for (const Comparison* comparison : family) p_values.push_back(comparison->absolute.p_value);
  const std::vector<double> adjusted = adjust(p_values);
  for (size_t i = 0; i < family.size(); ++i) family[i]->adjusted_p = adjusted[i];
}

std::vector<PairMoments> Together(const OutcomeTable::Groups& groups, size_t arms) {
  std::vector<PairMoments> all(arms);
  for (const auto& segment : groups) {
    for (size_t arm = 0; arm < arms; ++arm) all[arm].Merge(segment[arm]);
  }
  return all;
}

// The treatment's preference takes the place of a difference of means: all arms are on each list.
Comparison ComparePreference(const ReportInput& input, size_t arm) {
  const PreferenceResult preference = input.lists->Analyse(
      arm, {.alpha = input.record->alpha(), .tuning = input.record->sequential_tuning()});
  Comparison comparison{.control_units = preference.lists, .treatment_units = preference.lists};
  if (preference.lists < 2) {
    comparison.problem = "less than two readers have been shown a list";
    return comparison;
  }
  comparison.control_mean = preference.a_wins / preference.lists;
  comparison.treatment_mean = preference.b_wins / preference.lists;
  comparison.absolute = preference.sequence;
  comparison.fixed_horizon = preference.sequence;
  comparison.fixed_horizon.p_value = preference.sign_test_p;
  const double variance = preference.sequence.standard_error * preference.sequence.standard_error;
  comparison.bayes =
      statistics::Bayes({preference.sequence.estimate, variance, preference.lists, preference.lists - 1}, {},
                        input.record->alpha());
  return comparison;
}

void CompareMetric(const ReportInput& input, size_t m, bool with_segments, ExperimentReport* report) {
  const OutcomeTable& table = input.outcomes->table();
  const MetricPlan& metric = table.metrics()[m];
  const TestSettings settings = SettingsOf(*input.record);
  const size_t arms = table.options().arms;
  if (input.lists != nullptr) {
    if (metric.name != input.record->primary_metric()) return;  // no arm has units of its own
    for (size_t arm = 1; arm < arms; ++arm) {
      report->comparisons.push_back(ComparePreference(input, arm));
      Name(*input.record, metric, arm, "", &report->comparisons.back());
    }
    return;
  }
  if (input.record->mode() == ExperimentRecord::BANDIT) {
    const double cap = CapOf(table, m);
    for (size_t arm = 1; arm < arms; ++arm) {
      report->comparisons.push_back(CompareWeighted(table, m, cap, arm, settings));
      Name(*input.record, metric, arm, "", &report->comparisons.back());
    }
    return;
  }
  if (metric.kind == MetricRecord::QUANTILE) {
    const auto values = table.Values(m, input.exposed_until_us);
    for (size_t arm = 1; arm < arms; ++arm) {
      report->comparisons.push_back(CompareQuantiles(metric, values, arm, settings));
      Name(*input.record, metric, arm, "", &report->comparisons.back());
    }
    return;
  }
  const int64_t until_us = input.exposed_until_us;
  const auto groups = table.Read(m, CapOf(table, m, until_us), until_us);
  const auto all = Together(groups, arms);
  for (size_t arm = 1; arm < arms; ++arm) {
    report->comparisons.push_back(CompareSums(metric, all, arm, settings));
    Name(*input.record, metric, arm, "", &report->comparisons.back());
    if (!with_segments || groups.size() < 2) continue;
    for (size_t s = 0; s < groups.size(); ++s) {
      report->segments.push_back(CompareSums(metric, groups[s], arm, settings));
      Name(*input.record, metric, arm, input.outcomes->segments()[s], &report->segments.back());
    }
  }
}

void CorrectAll(ExperimentReport* report) {
  std::vector<Comparison*> primary, secondary, segments;
  for (Comparison& comparison : report->comparisons) {
    if (comparison.problem.empty()) (comparison.primary ? primary : secondary).push_back(&comparison);
  }
  for (Comparison& comparison : report->segments) {
    if (comparison.problem.empty()) segments.push_back(&comparison);
  }
  Correct(statistics::HolmAdjusted, primary);
  Correct(statistics::BenjaminiHochbergAdjusted, secondary);
  Correct(statistics::BenjaminiHochbergAdjusted, segments);
}

// The units each arm should have, from the weights that were in force when they came.
std::vector<double> ExpectedUnits(const ExperimentRecord& record, const OutcomeTable& table) {
  std::vector<double> expected(static_cast<size_t>(record.arms_size()), 0);
  for (OutcomeTable::Row row = 0; row < table.rows(); ++row) {
    if (table.excluded(row)) continue;
    int epoch = record.weights_size() - 1;
    while (epoch > 0 && record.weights(epoch).from_us() > table.unit(row).exposed_us) --epoch;
    for (size_t arm = 0; arm < expected.size(); ++arm) {
      const int place = static_cast<int>(arm);
      expected[arm] += epoch < 0 ? record.arms(place).weight() : record.weights(epoch).weights(place);
    }
  }
  return expected;
}

void AddDays(const ReportInput& input, ExperimentReport* report) {
  const auto days = input.outcomes->table().ReadDays(absl::ToUnixMicros(input.now));
  for (size_t day = 0; day < days.size(); ++day) {
    for (int arm = 1; arm < input.record->arms_size(); ++arm) {
      const auto effect = statistics::EffectOf(statistics::MeanOf(days[day][0]),
                                               statistics::MeanOf(days[day][static_cast<size_t>(arm)]),
                                               statistics::Scale::kAbsolute);
      if (!effect.ok()) continue;
      report->days.push_back(
          {static_cast<int>(day), input.record->arms(arm).name(),
           statistics::ConfidenceSequence(
               *effect, {.alpha = input.record->alpha(), .tuning = input.record->sequential_tuning()})});
    }
  }
}

double Share(double part, double whole) { return whole > 0 ? part / whole : 0; }

void AddShadow(const ReportInput& input, ExperimentReport* report) {
  for (size_t arm = 1; arm < input.shadow.size(); ++arm) {
    const ShadowSums& sums = input.shadow[arm];
    const double copies = sums.copies.answers();
    if (copies + sums.skipped == 0) continue;
    const storage::ServedSums& answers = input.shadow[0].copies;
    report->shadow.push_back({.arm = input.record->arms(static_cast<int>(arm)).name(),
                              .copies = copies,
                              .skipped = sums.skipped,
                              .overlap = Share(sums.overlap_sum, copies - sums.copies.errors()),
                              .rank_correlation = Share(sums.tau_sum, sums.correlated),
                              .latency_ms = Share(sums.copies.latency_sum(), copies),
                              .served_latency_ms = Share(answers.latency_sum(), answers.answers()),
                              .error_rate = Share(sums.copies.errors(), copies),
                              .empty_rate = Share(sums.copies.empty(), copies)});
  }
}

void AddWarnings(ExperimentReport* report) {
  const Evidence& evidence = report->evidence;
  if (evidence.sample_ratio.verdict == SampleRatioVerdict::kWarns) {
    report->warnings.push_back(
        absl::StrFormat("sample ratio: p %.4f is small; look for what loses or doubles units in one arm",
                        evidence.sample_ratio.p_value));
  }
  double units = 0;
  for (const int64_t count : evidence.units) units += static_cast<double>(count);
  if (report->conflicts > 0) {
    report->warnings.push_back(absl::StrFormat("%d units were seen in two arms and are not counted%s",
                                               report->conflicts,
                                               static_cast<double>(report->conflicts) > kManyConflicts * units
                                                   ? ": that is many, look for what assigns differently"
                                                   : ""));
  }
  if (report->record.weights_size() > 1) {
    report->warnings.emplace_back(
        "weights changed while it ran: the arms hold units of different times in different shares, which "
        "trends can tell apart");
  }
  if (report->record.mode() == ExperimentRecord::BANDIT) {
    report->warnings.emplace_back(
        "shares follow the outcomes, so units count by the inverse of their shares, and the sample ratio is "
        "not "
        "checked");
  }
  if (report->record.mode() == ExperimentRecord::INTERLEAVED) {
    report->warnings.emplace_back(
        "all arms make each list: the difference is that of readers who prefer one or the other, not of a "
        "mean");
  }
  if (report->record.hash_version() == ExperimentRecord::GROWTHBOOK_V1) {
    report->warnings.emplace_back("GROWTHBOOK_V1 correlates this experiment with others of that hash");
  }
  report->interference = {
      "co-visitation counts, popularity and trends are counted over all arms",
      "the retriever's and the ranker's next training see the events of all arms, unless it takes one"};
}

// All but the winner.
Evidence GatherCounts(const ReportInput& input) {
  const OutcomeTable& table = input.outcomes->table();
  Evidence evidence{.units = table.CountUnits(std::numeric_limits<int64_t>::min()),
                    .units_since_step = table.CountUnits(input.record->state_time_us()),
                    .days_with_exposures = table.DaysWithExposures()};
  if (input.lists != nullptr) {
    const auto arms = static_cast<size_t>(input.record->arms_size());
    evidence.units.assign(arms, input.lists->lists());
    evidence.units_since_step.assign(arms, input.lists->CountSince(input.record->state_time_us()));
    evidence.days_with_exposures = input.lists->DaysWithLists();
  }
  const std::vector<double> counts(evidence.units.begin(), evidence.units.end());
  // Lists have both arms, and a bandit's shares follow its outcomes: only a split says what counts should be.
  if (input.record->mode() == ExperimentRecord::SPLIT) {
    auto ratio = statistics::CheckSampleRatio(counts, ExpectedUnits(*input.record, table));
    if (ratio.ok()) evidence.sample_ratio = *ratio;
  }
  if (input.served != nullptr) evidence.guardrails = CheckGuardrails(*input.record, *input.served);
  for (const ShadowSums& sums : input.shadow) {
    evidence.copies.push_back(static_cast<int64_t>(sums.copies.answers()));
  }
  return evidence;
}

}  // namespace

ExperimentReport MakeReport(const ReportInput& input) {
  ExperimentReport report{.record = *input.record, .time = input.now, .conflicts = input.conflicts};
  report.evidence = GatherCounts(input);
  for (size_t m = 0; m < input.outcomes->table().metrics().size(); ++m)
    CompareMetric(input, m, true, &report);
  CorrectAll(&report);
  JudgePrimary(input, &report);
  if (input.record->mode() == ExperimentRecord::SPLIT) AddDays(input, &report);
  AddShadow(input, &report);
  if (input.looks != nullptr) report.looks = *input.looks;
  if (input.record->mode() == ExperimentRecord::BANDIT) {
    report.bandit =
        BanditArms(input.outcomes->table(), *input.record, input.shares, absl::ToUnixMicros(input.now));
  }
  if (input.lists != nullptr) {
    for (size_t arm = 1; arm < static_cast<size_t>(input.record->arms_size()); ++arm) {
      report.interleaving.push_back(
          {input.record->arms(static_cast<int>(arm)).name(), input.lists->lists(),
           input.lists->Analyse(
               arm, {.alpha = input.record->alpha(), .tuning = input.record->sequential_tuning()})});
    }
  }
  AddWarnings(&report);
  report.verdict = Judge(report);
  return report;
}

Evidence GatherEvidence(const ReportInput& input) {
  ExperimentReport report{.record = *input.record, .time = input.now};
  report.evidence = GatherCounts(input);
  CompareMetric(input, input.outcomes->table().options().primary, false, &report);
  CorrectAll(&report);
  JudgePrimary(input, &report);
  return report.evidence;
}

std::vector<Comparison> ComparePrimary(const ReportInput& input) {
  ExperimentReport report;
  CompareMetric(input, input.outcomes->table().options().primary, false, &report);
  return std::move(report.comparisons);
}

}  // namespace waymark
