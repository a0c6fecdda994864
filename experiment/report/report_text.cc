// A report as a person reads it.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "experiment/report/report.h"

namespace waymark {
namespace {

void AppendComparison(const Comparison& comparison, std::string* text) {
  const std::string name =
      absl::StrCat(comparison.metric, comparison.primary ? " (primary)" : "", ", ", comparison.arm,
                   comparison.segment.empty() ? "" : absl::StrCat(", ", comparison.segment));
  if (!comparison.problem.empty()) {
    absl::StrAppendFormat(text, "  %s: %s\n", name, comparison.problem);
    return;
  }
  absl::StrAppendFormat(
      text, "  %s: %.5g against %.5g, difference %+.5g [%+.5g, %+.5g], p %.4g (adjusted %.4g)\n", name,
      comparison.treatment_mean, comparison.control_mean, comparison.absolute.estimate,
      comparison.absolute.low, comparison.absolute.high, comparison.absolute.p_value, comparison.adjusted_p);
  if (comparison.relative.has_value()) {
    absl::StrAppendFormat(text, "    relative %+.2f%% [%+.2f%%, %+.2f%%]",
                          100 * comparison.relative->estimate, 100 * comparison.relative->low,
                          100 * comparison.relative->high);
  }
  absl::StrAppendFormat(text, "    chance to be larger %.3f; smallest effect in sight %.3g",
                        comparison.bayes.chance_to_win, comparison.minimal_detectable_effect);
  if (comparison.variance_reduction > 0) {
    absl::StrAppendFormat(text, "; the past explains %.0f%% of the variance",
                          100 * comparison.variance_reduction);
  }
  *text += "\n";
}

}  // namespace

std::string ReportText(const ExperimentReport& report) {
  std::string text =
      absl::StrFormat("Experiment %s: %s, %g%% of the traffic, at %s\nVerdict: %s%s\n", report.record.id(),
                      std::string(StateName(report.record.state())), 100 * report.record.coverage(),
                      absl::FormatTime(absl::RFC3339_sec, report.time, absl::UTCTimeZone()),
                      std::string(VerdictName(report.verdict)),
                      report.evidence.winner.empty() ? "" : absl::StrCat(": ", report.evidence.winner));
  for (const std::string& warning : report.warnings) absl::StrAppend(&text, "Warning: ", warning, "\n");
  text += "Units:";
  for (int arm = 0; arm < report.record.arms_size(); ++arm) {
    absl::StrAppendFormat(&text, " %s %d", report.record.arms(arm).name(),
                          report.evidence.units[static_cast<size_t>(arm)]);
  }
  absl::StrAppendFormat(&text, "; sample ratio p %.4g\n", report.evidence.sample_ratio.p_value);
  text += "Metrics (intervals hold at every look):\n";
  for (const Comparison& comparison : report.comparisons) AppendComparison(comparison, &text);
  if (!report.segments.empty()) text += "By segment:\n";
  for (const Comparison& comparison : report.segments) AppendComparison(comparison, &text);
  if (!report.days.empty()) text += "Primary metric by day since first exposure:\n";
  for (const DayEffect& day : report.days) {
    absl::StrAppendFormat(&text, "  day %d, %s: %+.5g [%+.5g, %+.5g]\n", day.day + 1, day.arm,
                          day.absolute.estimate, day.absolute.low, day.absolute.high);
  }
  if (!report.shadow.empty()) text += "In the shadow:\n";
  for (const ShadowResult& shadow : report.shadow) {
    absl::StrAppendFormat(
        &text,
        "  %s: %.0f copies (%.0f skipped), overlap of the first ten %.3f, rank correlation %.3f, "
        "%.3g ms against %.3g, errors %.3g%%, empty %.3g%%\n",
        shadow.arm, shadow.copies, shadow.skipped, shadow.overlap, shadow.rank_correlation, shadow.latency_ms,
        shadow.served_latency_ms, 100 * shadow.error_rate, 100 * shadow.empty_rate);
  }
  if (!report.evidence.guardrails.empty()) text += "Guardrails:\n";
  for (const GuardrailResult& guardrail : report.evidence.guardrails) {
    const std::string name = absl::StrCat(std::string(MeasureName(guardrail.measure)), ", ",
                                          report.record.arms(guardrail.arm).name());
    if (!guardrail.problem.empty()) {
      absl::StrAppendFormat(&text, "  %s: %s\n", name, guardrail.problem);
      continue;
    }
    absl::StrAppendFormat(&text, "  %s: %.4g against %.4g, worse by %+.4g [%+.4g, %+.4g], %.4g allowed%s\n",
                          name, guardrail.treatment, guardrail.control, guardrail.worse_by.estimate,
                          guardrail.worse_by.low, guardrail.worse_by.high, guardrail.tolerance,
                          guardrail.violated ? ": VIOLATED" : "");
  }
  for (const std::string& shared : report.interference)
    absl::StrAppend(&text, "Shared by the arms: ", shared, "\n");
  return text;
}

}  // namespace waymark
