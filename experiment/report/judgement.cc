#include "experiment/report/judgement.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "experiment/report/comparison.h"
#include "experiment/report/planned_looks.h"

namespace waymark {
namespace {

using statistics::SampleRatioVerdict;
using storage::ExperimentRecord;

// Of each arm, before its metric names a winner.
constexpr double kFewestUnits = 30;

// The sequences are asymptotic: few units, which may happen to be alike, decide nothing.
bool Decides(const Comparison& comparison) {
  return comparison.problem.empty() &&
         std::min(comparison.control_units, comparison.treatment_units) >= kFewestUnits;
}

// Whether every treatment has figures, and is worse than the control by them.
bool AllWorse(const ExperimentReport& report) {
  if (report.evidence.sample_ratio.verdict == SampleRatioVerdict::kBlocks) return false;
  bool any = false;
  for (const Comparison& comparison : report.comparisons) {
    if (!comparison.primary) continue;
    any = true;
    const double gain =
        comparison.lower_is_better ? -comparison.absolute.estimate : comparison.absolute.estimate;
    if (!Decides(comparison) || comparison.adjusted_p >= report.record.alpha() || gain >= 0) return false;
  }
  return any;
}

// Planned looks decide where there are some; what is seen between them decides nothing.
void JudgeByLooks(const ReportInput& input, ExperimentReport* report) {
  if (input.looks == nullptr) return;
  const bool lower_is_better =
      input.outcomes->table().metrics()[input.outcomes->table().options().primary].lower_is_better;
  auto results = JudgePlannedLooks(*input.record, *input.looks);
  if (!results.ok()) {
    report->warnings.push_back(
        absl::StrCat("planned looks cannot be judged: ", std::string(results.status().message())));
    return;
  }
  report->planned_looks = *std::move(results);
  if (report->evidence.sample_ratio.verdict == SampleRatioVerdict::kBlocks) return;
  report->evidence.winner = PlannedWinner(report->planned_looks, lower_is_better);
  report->evidence.all_worse =
      PlannedAllWorse(report->planned_looks, lower_is_better, input.record->arms_size());
}

std::string WinnerOf(const ExperimentReport& report) {
  if (report.evidence.sample_ratio.verdict == SampleRatioVerdict::kBlocks) return {};
  std::vector<Comparison> primary;
  for (const Comparison& comparison : report.comparisons) {
    if (comparison.primary && Decides(comparison)) primary.push_back(comparison);
  }
  return BestArm(primary, report.record.alpha());
}

// What decisions by the primary metric are made from.
void AddPrimaryNumbers(ExperimentReport* report) {
  std::map<std::string, double>& numbers = report->evidence.primary;
  for (const Comparison& comparison : report->comparisons) {
    if (!comparison.primary || !comparison.problem.empty()) continue;
    const std::string name = absl::StrCat(comparison.metric, " of '", comparison.arm, "'");
    numbers[absl::StrCat(name, " difference")] = comparison.absolute.estimate;
    numbers[absl::StrCat(name, " sequential p, adjusted")] = comparison.adjusted_p;
  }
  for (const PlannedLookResult& look : report->planned_looks) {  // the newest of each arm stays
    const std::string name = absl::StrCat("planned look of '", look.arm, "'");
    numbers[absl::StrCat(name, " units")] = static_cast<double>(look.units);
    numbers[absl::StrCat(name, " difference")] = look.estimate;
    numbers[absl::StrCat(name, " p")] = look.p_value;
    numbers[absl::StrCat(name, " p under which arms are told apart")] = look.boundary_p;
    numbers[absl::StrCat(name, " told apart")] = look.crossed ? 1 : 0;
  }
}

}  // namespace

void JudgePrimary(const ReportInput& input, ExperimentReport* report) {
  if (input.record->has_planned_looks()) {
    JudgeByLooks(input, report);
  } else {
    report->evidence.winner = WinnerOf(*report);
    report->evidence.all_worse = AllWorse(*report);
  }
  AddPrimaryNumbers(report);
}

Verdict Judge(const ExperimentReport& report) {
  if (report.record.state() == ExperimentRecord::ROLLED_BACK) return Verdict::kRolledBack;
  if (report.evidence.sample_ratio.verdict == SampleRatioVerdict::kBlocks) return Verdict::kBlocked;
  const bool any = std::any_of(
      report.comparisons.begin(), report.comparisons.end(),
      [](const Comparison& comparison) { return comparison.primary && comparison.problem.empty(); });
  if (!any) return Verdict::kTooFewUnits;
  if (!report.evidence.winner.empty()) return Verdict::kWinner;
  if (report.evidence.all_worse) return Verdict::kNoBetterArm;
  const bool over = !report.planned_looks.empty() && report.planned_looks.back().share >= 1;
  return over ? Verdict::kNotToldApart : Verdict::kGoOn;
}

std::string_view VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kTooFewUnits:
      return "too few units";
    case Verdict::kBlocked:
      return "blocked by the sample ratio";
    case Verdict::kRolledBack:
      return "rolled back";
    case Verdict::kGoOn:
      return "go on";
    case Verdict::kWinner:
      return "winner";
    case Verdict::kNoBetterArm:
      return "no arm is better than the control";
    case Verdict::kNotToldApart:
      return "not told apart at any of the planned looks";
  }
  return "";
}

}  // namespace waymark
