#include "app/experiment_text.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "app/text_table.h"

namespace waymark {
namespace {

using Report = v1::ExperimentReport;

std::string NameOf(const Report::Comparison& comparison) {
  return absl::StrCat(comparison.metric(), ", ", comparison.arm(), comparison.segment().empty() ? "" : ", ",
                      comparison.segment());
}

void AppendComparison(const Report::Comparison& c, std::string* text) {
  if (!c.problem().empty()) {
    absl::StrAppend(text, "  ", NameOf(c), ": ", c.problem(), "\n");
    return;
  }
  absl::StrAppendFormat(text, "  %s: %.5g against %.5g, difference %+.5g [%+.5g, %+.5g], adjusted p %.4g\n",
                        NameOf(c), c.treatment_mean(), c.control_mean(), c.absolute().estimate(),
                        c.absolute().low(), c.absolute().high(), c.absolute().adjusted_p_value());
  absl::StrAppend(text, "   ");
  if (c.has_relative()) {
    absl::StrAppendFormat(text, " relative %+.2f%% [%+.2f%%, %+.2f%%];", 100 * c.relative().estimate(),
                          100 * c.relative().low(), 100 * c.relative().high());
  }
  absl::StrAppendFormat(text, " chance to be larger %.3f", c.chance_to_win());
  if (c.minimal_detectable_effect() > 0) {
    absl::StrAppendFormat(text, "; smallest effect in sight %.3g", c.minimal_detectable_effect());
  }
  absl::StrAppend(text, "\n");
}

void AppendShadow(const Report::Shadow& s, std::string* text) {
  absl::StrAppendFormat(text,
                        "  %s: %d copies (%d skipped), overlap of the first ten %.3f, rank correlation %.3f, "
                        "%.3g ms against %.3g, errors %.3g%%, empty %.3g%%\n",
                        s.arm(), s.copies(), s.skipped(), s.overlap(), s.rank_correlation(), s.latency_ms(),
                        s.served_latency_ms(), 100 * s.error_rate(), 100 * s.empty_rate());
}

void AppendGuardrail(const Report::Guardrail& g, std::string* text) {
  if (!g.problem().empty()) {
    absl::StrAppend(text, "  ", g.measure(), ", ", g.arm(), ": ", g.problem(), "\n");
    return;
  }
  absl::StrAppendFormat(text, "  %s, %s: %.4g against %.4g, worse by %+.4g [%+.4g, %+.4g]%s\n", g.measure(),
                        g.arm(), g.treatment(), g.control(), g.worse_by().estimate(), g.worse_by().low(),
                        g.worse_by().high(), g.violated() ? ": VIOLATED" : "");
}

void AppendDecision(const v1::Decision& d, std::string* text) {
  absl::StrAppend(text, "  ", TimeText(d.time()), " ", d.by(), ": ", d.action());
  if (d.coverage_after() != d.coverage_before())
    absl::StrAppendFormat(text, " to %g%%", 100 * d.coverage_after());
  if (!d.reason().empty()) absl::StrAppend(text, ", ", d.reason());
  if (!d.override_reason().empty())
    absl::StrAppend(text, " (conditions set aside: ", d.override_reason(), ")");
  absl::StrAppend(text, "\n");
}

void AppendPlannedLook(const Report::PlannedLook& look, std::string* text) {
  absl::StrAppendFormat(text, "  %g%% of the units (%d), %s: %+.5g [%+.5g, %+.5g], p %.4g against %.4g: %s\n",
                        100 * look.share(), look.units(), look.arm(), look.difference().estimate(),
                        look.difference().low(), look.difference().high(), look.difference().p_value(),
                        look.boundary_p(), look.crossed() ? "told apart" : "not told apart");
}

}  // namespace

std::string StateText(v1::Experiment::State state) {
  return absl::StrReplaceAll(absl::AsciiStrToLower(v1::Experiment::State_Name(state)), {{"_", " "}});
}

std::string ExperimentText(const v1::Experiment& experiment) {
  std::string text = absl::StrCat("experiment ", experiment.id(), ": ", StateText(experiment.state()));
  if (experiment.state() == v1::Experiment::RUNNING)
    absl::StrAppendFormat(&text, ", %g%% of the traffic", 100 * experiment.coverage());
  if (!experiment.winner().empty()) absl::StrAppend(&text, ", winner ", experiment.winner());
  absl::StrAppend(&text, "; arms");
  for (const v1::Experiment::Arm& arm : experiment.arms()) {
    absl::StrAppendFormat(&text, " %s (%s, %g%%)", arm.name(),
                          arm.release().empty() ? arm.slot_variant() : arm.release(), 100 * arm.weight());
  }
  return absl::StrCat(text, "\n");
}

std::string ExperimentReportText(const Report& report) {
  std::string text =
      absl::StrFormat("experiment %s: %s, %g%% of the traffic, at %s\nverdict: %s%s\n", report.id(),
                      StateText(report.state()), 100 * report.coverage(), TimeText(report.time()),
                      report.verdict(), report.winner().empty() ? "" : absl::StrCat(": ", report.winner()));
  for (const std::string& warning : report.warnings()) absl::StrAppend(&text, "warning: ", warning, "\n");
  absl::StrAppend(&text, "units:");
  for (const Report::Arm& arm : report.arms()) absl::StrAppend(&text, " ", arm.name(), " ", arm.units());
  absl::StrAppendFormat(&text, "; sample ratio p %.4g (%s)", report.sample_ratio_p_value(),
                        report.sample_ratio_verdict());
  if (report.conflicting_units() > 0)
    absl::StrAppend(&text, "; ", report.conflicting_units(), " seen in two arms");
  absl::StrAppend(&text, "\nmetrics (intervals hold at every look):\n");
  for (const Report::Comparison& comparison : report.comparisons()) AppendComparison(comparison, &text);
  if (!report.planned_looks().empty()) absl::StrAppend(&text, "planned looks, which decide:\n");
  for (const Report::PlannedLook& look : report.planned_looks()) AppendPlannedLook(look, &text);
  if (!report.segments().empty()) absl::StrAppend(&text, "by segment:\n");
  for (const Report::Comparison& comparison : report.segments()) AppendComparison(comparison, &text);
  if (!report.days().empty()) absl::StrAppend(&text, "primary metric by day since first exposure:\n");
  for (const Report::Day& day : report.days()) {
    absl::StrAppendFormat(&text, "  day %d, %s: %+.5g [%+.5g, %+.5g]\n", day.day() + 1, day.arm(),
                          day.absolute().estimate(), day.absolute().low(), day.absolute().high());
  }
  if (!report.shadow().empty()) absl::StrAppend(&text, "in the shadow:\n");
  for (const Report::Shadow& shadow : report.shadow()) AppendShadow(shadow, &text);
  if (!report.guardrails().empty()) absl::StrAppend(&text, "guardrails:\n");
  for (const Report::Guardrail& guardrail : report.guardrails()) AppendGuardrail(guardrail, &text);
  for (const std::string& shared : report.interference())
    absl::StrAppend(&text, "shared by the arms: ", shared, "\n");
  if (!report.decisions().empty()) absl::StrAppend(&text, "decisions:\n");
  for (const v1::Decision& decision : report.decisions()) AppendDecision(decision, &text);
  return text;
}

}  // namespace waymark
