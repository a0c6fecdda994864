#include "app/experiment_html.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "app/experiment_text.h"
#include "app/svg_plot.h"
#include "app/text_table.h"

namespace waymark {
namespace {

using PageReport = v1::ExperimentReport;

constexpr const char* kStyle = R"(
:root{--ink:#1c2330;--soft:#5a6577;--paper:#fbfbfa;--card:#fff;--rule:#dfe3e8;--line:#1f5fbf;--band:#1f5fbf26;
--axis:#8b95a5;--good:#16794c;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ee;--soft:#9aa5b5;--paper:#14181f;--card:#1b212a;--rule:#2f3845;
--line:#7fb0ff;--band:#7fb0ff2e;--axis:#7a8595;--good:#5fc492;--bad:#ff8a80}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:60rem;margin:0 auto;padding:2rem 1.25rem 4rem}
h1{font-size:1.6rem;margin:0 0 .25rem}h2{font-size:1.1rem;margin:2.5rem 0 .5rem}
p{margin:.4rem 0;max-width:46rem}.soft{color:var(--soft)}.verdict{font-size:1.25rem;font-weight:600;margin:1rem 0 .25rem}
.good{color:var(--good)}.bad{color:var(--bad)}.warning{border-left:3px solid var(--bad);padding-left:.75rem}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:.92rem}
th{text-align:left;font-weight:600;color:var(--soft)}th,td{padding:.35rem .75rem .35rem 0;border-bottom:1px solid var(--rule);
vertical-align:middle}td.n,th.n{text-align:right}td.n{white-space:nowrap}
figure{margin:.75rem 0 1.5rem}figcaption{color:var(--soft);font-size:.9rem;margin-bottom:.25rem}
svg{display:block;width:100%;height:auto;background:var(--card);border:1px solid var(--rule);border-radius:4px}
svg.row{width:150px;border:0;background:none}
.grid{stroke:var(--rule);stroke-width:1}.zero{stroke:var(--axis);stroke-width:1.5;stroke-dasharray:4 3}
.band{fill:var(--band)}.line{fill:none;stroke:var(--line);stroke-width:2}.bar{stroke:var(--line);stroke-width:3}
.dot{fill:var(--line)}.tick{fill:var(--soft);font-size:11px}details summary{cursor:pointer;color:var(--soft)}
.whole{white-space:nowrap}
/* A plot shrinks with the screen, and what is written in it has to stay readable. */
@media (max-width:600px){main{padding:1.25rem .75rem 3rem}.tick{font-size:20px}}
)";

std::string Number(double value) { return absl::StrFormat("%.4g", value); }

std::string Cell(const std::string& text, bool number = false) {
  return absl::StrCat(number ? "<td class=\"n\">" : "<td>", text, "</td>");
}

std::string Head(const std::vector<std::string>& titles, size_t first_number) {
  std::string row = "<div class=\"scroll\"><table><thead><tr>";
  for (size_t i = 0; i < titles.size(); ++i)
    absl::StrAppend(&row, i >= first_number ? "<th class=\"n\">" : "<th>", titles[i], "</th>");
  return row + "</tr></thead><tbody>";
}
constexpr const char* kTail = "</tbody></table></div>";

std::string Interval(const v1::Lift& lift) {
  return absl::StrFormat("%+.4g [%+.4g, %+.4g]", lift.estimate(), lift.low(), lift.high());
}

IntervalPoint PointOf(double x, const v1::Lift& lift, const std::string& label) {
  return {x, lift.estimate(), lift.low(), lift.high(), absl::StrCat(label, ": ", Interval(lift))};
}

void AppendHeader(const v1::Experiment& experiment, const PageReport& report, std::string* page) {
  const bool good = report.verdict() == "winner";
  const bool bad = report.state() == v1::Experiment::ROLLED_BACK || report.sample_ratio_verdict() == "blocks";
  absl::StrAppend(page, "<h1>Experiment ", EscapeHtml(report.id()), "</h1><p class=\"soft\">",
                  StateText(report.state()),
                  absl::StrFormat(", %g%% of the traffic, at ", 100 * report.coverage()),
                  TimeText(report.time()), "</p><p>", EscapeHtml(experiment.hypothesis()), "</p>");
  absl::StrAppend(page, "<p class=\"verdict ",
                  good  ? "good"
                  : bad ? "bad"
                        : "",
                  "\">", EscapeHtml(report.verdict()),
                  report.winner().empty() ? "" : absl::StrCat(": ", EscapeHtml(report.winner())), "</p>");
  absl::StrAppend(page, "<p class=\"soft\">Intervals hold at every look at once, at ",
                  Number(100 * (1 - report.alpha())),
                  "%: whoever looks daily and stops when 0 lies outside errs in ",
                  Number(100 * report.alpha()), "% of the cases at most.</p>");
  for (const std::string& warning : report.warnings())
    absl::StrAppend(page, "<p class=\"warning\">", EscapeHtml(warning), "</p>");
}

void AppendUnits(const v1::Experiment& experiment, const PageReport& report, std::string* page) {
  absl::StrAppend(page, "<h2>Who has seen what</h2>", Head({"arm", "serves", "share", "units"}, 2));
  for (int i = 0; i < report.arms_size(); ++i) {
    const PageReport::Arm& arm = report.arms(i);
    const bool known = i < experiment.arms_size();
    const std::string serves = !known                                 ? ""
                               : experiment.arms(i).release().empty() ? experiment.arms(i).slot_variant()
                                                                      : experiment.arms(i).release();
    absl::StrAppend(page, "<tr>", Cell(EscapeHtml(arm.name())), Cell(EscapeHtml(serves)),
                    Cell(absl::StrFormat("%.4g%%", 100 * arm.weight()), true),
                    Cell(absl::StrCat(arm.units()), true), "</tr>");
  }
  absl::StrAppend(page, kTail, "<p class=\"soft\">Sample ratio: chi-squared ",
                  Number(report.sample_ratio_chi_squared()), ", p ", Number(report.sample_ratio_p_value()),
                  ", ", report.sample_ratio_verdict());
  if (report.conflicting_units() > 0)
    absl::StrAppend(page, "; ", report.conflicting_units(), " units have seen two arms and are not counted");
  absl::StrAppend(page, "</p>");
}

void AppendComparisons(const google::protobuf::RepeatedPtrField<PageReport::Comparison>& comparisons,
                       const std::string& title, std::string* page) {
  if (comparisons.empty()) return;
  // Metrics have their own units, so each has its own scale.
  std::map<std::string, std::pair<double, double>> ranges;
  for (const PageReport::Comparison& c : comparisons) {
    if (!c.problem().empty()) continue;
    auto& [least, most] = ranges[c.metric()];
    least = std::min({least, c.absolute().low(), 0.0});
    most = std::max({most, c.absolute().high(), 0.0});
  }
  absl::StrAppend(page, "<h2>", title, "</h2>",
                  Head({"metric", "arm", "difference, with its interval", "control", "treatment", "relative",
                        "adjusted p", "smallest effect in sight"},
                       3));
  for (const PageReport::Comparison& c : comparisons) {
    const std::string metric =
        c.segment().empty() ? c.metric() : absl::StrCat(c.metric(), " (", c.segment(), ")");
    absl::StrAppend(page, "<tr>", Cell(EscapeHtml(metric)), Cell(EscapeHtml(c.arm())));
    if (!c.problem().empty()) {
      absl::StrAppend(page, "<td colspan=\"6\" class=\"soft\">", EscapeHtml(c.problem()), "</td></tr>");
      continue;
    }
    const auto& [least, most] = ranges[c.metric()];
    absl::StrAppend(
        page,
        Cell(absl::StrCat(IntervalRow(PointOf(0, c.absolute(), metric + ", " + c.arm()), least, most),
                          "<span class=\"whole\">", Interval(c.absolute()), "</span>")),
        Cell(Number(c.control_mean()), true), Cell(Number(c.treatment_mean()), true),
        Cell(c.has_relative() ? absl::StrFormat("%+.2f%%", 100 * c.relative().estimate()) : "", true),
        Cell(Number(c.absolute().adjusted_p_value()), true),
        Cell(c.minimal_detectable_effect() > 0 ? Number(c.minimal_detectable_effect()) : "", true), "</tr>");
  }
  absl::StrAppend(page, kTail);
}

std::function<std::string(double)> TimeAxis(double span_seconds) {
  const char* format = span_seconds < 2 * 3600    ? "%H:%M:%S"
                       : span_seconds < 3 * 86400 ? "%m-%d %H:%M"
                                                  : "%Y-%m-%d";
  return [format](double seconds) {
    return absl::FormatTime(format, absl::UnixEpoch() + absl::Seconds(seconds), absl::UTCTimeZone());
  };
}

void AppendLooks(const v1::Experiment& experiment, const PageReport& report, std::string* page) {
  if (report.looks().empty()) return;
  std::map<std::string, std::vector<IntervalPoint>> by_arm;
  for (const PageReport::Look& look : report.looks()) {
    const double x = static_cast<double>(look.time().seconds()) + 1e-9 * look.time().nanos();
    by_arm[look.arm()].push_back(PointOf(x, look.absolute(), TimeText(look.time())));
  }
  absl::StrAppend(page, "<h2>", EscapeHtml(experiment.primary_metric()), " over time</h2>");
  for (const auto& [arm, points] : by_arm) {
    const std::string title = absl::StrCat(experiment.primary_metric(), ": difference of ", arm,
                                           " to the control, with its interval, at each look (UTC)");
    absl::StrAppend(
        page, "<figure><figcaption>", EscapeHtml(title), "</figcaption>",
        IntervalPlot(points,
                     {.title = title, .band = true, .x_text = TimeAxis(points.back().x - points.front().x)}),
        "</figure>");
  }
  absl::StrAppend(page, "<details><summary>The same in figures, the newest 50 looks</summary>",
                  Head({"time", "arm", "difference, with its interval", "p", "units"}, 2));
  for (int i = std::max(0, report.looks_size() - 50); i < report.looks_size(); ++i) {
    const PageReport::Look& look = report.looks(i);
    absl::StrAppend(page, "<tr>", Cell(TimeText(look.time())), Cell(EscapeHtml(look.arm())),
                    Cell(Interval(look.absolute()), true), Cell(Number(look.absolute().p_value()), true),
                    Cell(absl::StrCat(look.control_units(), " / ", look.treatment_units()), true), "</tr>");
  }
  absl::StrAppend(page, kTail, "</details>");
}

void AppendPlannedLooks(const PageReport& report, std::string* page) {
  if (report.planned_looks().empty()) return;
  absl::StrAppend(
      page, "<h2>Planned looks</h2><p class=\"soft\">They decide; what is seen between them does not.</p>",
      Head({"time", "arm", "difference, with its interval", "p", "has to be under", "units", ""}, 2));
  for (const PageReport::PlannedLook& look : report.planned_looks()) {
    absl::StrAppend(page, "<tr>", Cell(TimeText(look.time())), Cell(EscapeHtml(look.arm())),
                    Cell(Interval(look.difference()), true), Cell(Number(look.difference().p_value()), true),
                    Cell(Number(look.boundary_p()), true),
                    Cell(absl::StrFormat("%d (%g%%)", look.units(), 100 * look.share()), true),
                    Cell(look.crossed() ? "told apart" : "not told apart"), "</tr>");
  }
  absl::StrAppend(page, kTail);
}

void AppendDays(const PageReport& report, std::string* page) {
  if (report.days().empty()) return;
  std::map<std::string, std::vector<IntervalPoint>> by_arm;
  for (const PageReport::Day& day : report.days())
    by_arm[day.arm()].push_back(PointOf(day.day() + 1, day.absolute(), absl::StrCat("day ", day.day() + 1)));
  absl::StrAppend(
      page, "<h2>By day since first exposure</h2><p class=\"soft\">An effect that shrinks was novelty.</p>");
  for (const auto& [arm, points] : by_arm) {
    const std::string title = absl::StrCat("difference of ", arm, " on the n-th day");
    absl::StrAppend(page, "<figure><figcaption>", EscapeHtml(title), "</figcaption>",
                    IntervalPlot(points, {.title = title,
                                          .x_text = [](double day) { return absl::StrFormat("%.0f", day); }}),
                    "</figure>");
  }
}

void AppendGuardrails(const PageReport& report, std::string* page) {
  if (report.guardrails().empty()) return;
  absl::StrAppend(page, "<h2>Guardrails</h2>",
                  Head({"measure", "arm", "", "control", "treatment", "worse by"}, 3));
  for (const PageReport::Guardrail& g : report.guardrails()) {
    absl::StrAppend(page, "<tr>", Cell(EscapeHtml(g.measure())), Cell(EscapeHtml(g.arm())));
    if (!g.problem().empty()) {
      absl::StrAppend(page, "<td colspan=\"4\" class=\"soft\">", EscapeHtml(g.problem()), "</td></tr>");
      continue;
    }
    absl::StrAppend(page, Cell(g.violated() ? "<span class=\"bad\">violated</span>" : "holds"),
                    Cell(Number(g.control()), true), Cell(Number(g.treatment()), true),
                    Cell(Interval(g.worse_by()), true), "</tr>");
  }
  absl::StrAppend(page, kTail);
}

void AppendModes(const PageReport& report, std::string* page) {
  if (!report.interleaving().empty()) absl::StrAppend(page, "<h2>Interleaved lists</h2>");
  for (const PageReport::Interleaving& i : report.interleaving()) {
    absl::StrAppend(page, "<p>", i.lists(), " lists for ", i.readers(), " readers: ", i.treatment_wins(),
                    " prefer ", EscapeHtml(i.arm()), ", ", i.control_wins(), " the control, ", i.ties(),
                    " neither. Preference ", absl::StrFormat("%+.4f", i.preference()), "; sign test p ",
                    Number(i.sign_test_p()), " at one look that was fixed beforehand.</p>");
  }
  if (!report.bandit().empty()) {
    absl::StrAppend(page, "<h2>Shares</h2>",
                    Head({"arm", "", "share now", "units", "successes", "by inverse propensity"}, 2));
    for (const PageReport::Bandit& arm : report.bandit()) {
      absl::StrAppend(page, "<tr>", Cell(EscapeHtml(arm.arm())),
                      Cell(IntervalRow({0, arm.share(), 0, arm.share(), arm.arm()}, 0, 1)),
                      Cell(absl::StrFormat("%.1f%%", 100 * arm.share()), true),
                      Cell(absl::StrCat(arm.units()), true), Cell(absl::StrCat(arm.successes()), true),
                      Cell(absl::StrFormat("%.4g [%.4g, %.4g]", arm.mean(), arm.low(), arm.high()), true),
                      "</tr>");
    }
    absl::StrAppend(page, kTail);
  }
  if (report.shadow().empty()) return;
  absl::StrAppend(page, "<h2>In the shadow</h2>",
                  Head({"arm", "copies", "skipped", "overlap of the first ten", "rank correlation", "ms",
                        "answers' ms", "errors", "empty"},
                       1));
  for (const PageReport::Shadow& s : report.shadow()) {
    absl::StrAppend(page, "<tr>", Cell(EscapeHtml(s.arm())), Cell(absl::StrCat(s.copies()), true),
                    Cell(absl::StrCat(s.skipped()), true), Cell(Number(s.overlap()), true),
                    Cell(Number(s.rank_correlation()), true), Cell(Number(s.latency_ms()), true),
                    Cell(Number(s.served_latency_ms()), true),
                    Cell(absl::StrFormat("%.3g%%", 100 * s.error_rate()), true),
                    Cell(absl::StrFormat("%.3g%%", 100 * s.empty_rate()), true), "</tr>");
  }
  absl::StrAppend(page, kTail);
}

void AppendEnd(const PageReport& report, std::string* page) {
  if (!report.decisions().empty()) {
    absl::StrAppend(page, "<h2>Decisions</h2>", Head({"time", "by", "what", "why"}, 4));
    for (const v1::Decision& d : report.decisions()) {
      std::string what = EscapeHtml(d.action());
      if (d.coverage_after() != d.coverage_before())
        absl::StrAppendFormat(&what, " to %g%%", 100 * d.coverage_after());
      std::string why = EscapeHtml(d.reason());
      if (!d.override_reason().empty())
        absl::StrAppend(&why, why.empty() ? "" : "; ",
                        "conditions set aside: ", EscapeHtml(d.override_reason()));
      absl::StrAppend(page, "<tr>", Cell(TimeText(d.time())), Cell(EscapeHtml(d.by())), Cell(what), Cell(why),
                      "</tr>");
    }
    absl::StrAppend(page, kTail);
  }
  if (report.interference().empty()) return;
  absl::StrAppend(page, "<h2>What the arms share</h2>");
  for (const std::string& shared : report.interference())
    absl::StrAppend(page, "<p>", EscapeHtml(shared), "</p>");
}

}  // namespace

std::string ExperimentReportHtml(const v1::Experiment& experiment, const v1::ExperimentReport& report) {
  std::string page = absl::StrCat(
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\"><title>Experiment ",
      EscapeHtml(report.id()), "</title><style>", kStyle, "</style></head><body><main>");
  AppendHeader(experiment, report, &page);
  AppendUnits(experiment, report, &page);
  AppendComparisons(report.comparisons(), "Metrics", &page);
  AppendPlannedLooks(report, &page);
  AppendLooks(experiment, report, &page);
  AppendModes(report, &page);
  AppendDays(report, &page);
  AppendComparisons(report.segments(), "By segment", &page);
  AppendGuardrails(report, &page);
  AppendEnd(report, &page);
  return page + "</main></body></html>\n";
}

}  // namespace waymark
