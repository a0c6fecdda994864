#include "app/svg_plot.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace waymark {
namespace {

constexpr double kPlotWidth = 720, kPlotHeight = 250;
constexpr double kLeft = 84, kRight = 18, kTop = 14, kBottom = 34;
constexpr double kRowWidth = 220, kRowHeight = 20;

// From a value to a place, and no further than the drawing.
struct Scale {
  double from = 0, to = 1, begin = 0, end = 1;
  double At(double value) const { return begin + (value - from) / (to - from) * (end - begin); }
};

Scale VerticalScale(const std::vector<IntervalPoint>& points) {
  double least = 0, most = 0;
  for (size_t i = points.size() / 3; i < points.size(); ++i) {
    least = std::min(least, points[i].low);
    most = std::max(most, points[i].high);
  }
  if (least == most) most = least + 1;
  const double margin = .06 * (most - least);
  return {least - margin, most + margin, kPlotHeight - kBottom, kTop};
}

void AppendAxes(const Scale& x, const Scale& y, const std::vector<IntervalPoint>& points,
                const PlotOptions& options, std::string* svg) {
  for (const double tick : RoundTicks(y.from, y.to)) {
    const bool zero = tick == 0;
    absl::StrAppendFormat(svg, "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>",
                          zero ? "zero" : "grid", kLeft, kPlotWidth - kRight, y.At(tick), y.At(tick));
    absl::StrAppendFormat(svg, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.4g</text>",
                          kLeft - 8, y.At(tick) + 4, tick);
  }
  const size_t most = options.band ? 5 : 14;
  const size_t count = std::min(most, points.size());
  for (size_t i = 0; i < count; ++i) {
    // In a band at even distances, for bars at points.
    const size_t at = count < 2 ? 0 : i * (points.size() - 1) / (count - 1);
    const double share = count < 2 ? 0 : static_cast<double>(i) / static_cast<double>(count - 1);
    const double value =
        options.band ? points.front().x + share * (points.back().x - points.front().x) : points[at].x;
    const char* anchor = !options.band || count < 2 ? "middle"
                         : i == 0                   ? "start"
                         : i + 1 == count           ? "end"
                                                    : "middle";
    absl::StrAppendFormat(svg, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>",
                          x.At(value), kPlotHeight - 12, anchor, EscapeHtml(options.x_text(value)));
  }
}

void AppendBand(const Scale& x, const Scale& y, const std::vector<IntervalPoint>& points, std::string* svg) {
  std::string area, line;
  for (const IntervalPoint& point : points)
    absl::StrAppendFormat(&area, "%.1f,%.1f ", x.At(point.x), y.At(point.high));
  for (auto at = points.rbegin(); at != points.rend(); ++at)
    absl::StrAppendFormat(&area, "%.1f,%.1f ", x.At(at->x), y.At(at->low));
  for (const IntervalPoint& point : points)
    absl::StrAppendFormat(&line, "%.1f,%.1f ", x.At(point.x), y.At(point.estimate));
  absl::StrAppend(svg, "<polygon class=\"band\" points=\"", area, "\"/><polyline class=\"line\" points=\"",
                  line, "\"/>");
}

void AppendPoint(const Scale& x, const Scale& y, const IntervalPoint& point, bool bar, std::string* svg) {
  const double at = x.At(point.x);
  absl::StrAppend(svg, "<g>");
  if (bar) {
    absl::StrAppendFormat(svg, "<line class=\"bar\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", at,
                          at, y.At(point.low), y.At(point.high));
  }
  absl::StrAppendFormat(svg, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"%g\"/><title>%s</title></g>",
                        at, y.At(point.estimate), bar ? 4.0 : 3.0, EscapeHtml(point.label));
}

}  // namespace

std::vector<double> RoundTicks(double least, double most) {
  if (!(most > least) || !std::isfinite(most - least)) return {};
  const double rough = (most - least) / 6, power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1., 2., 5.}) {
    if (factor * power >= .7 * rough) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> ticks;
  for (double i = std::ceil(least / step); i * step <= most; ++i) ticks.push_back(i == 0 ? 0 : i * step);
  return ticks;
}

std::string IntervalPlot(const std::vector<IntervalPoint>& points, const PlotOptions& options) {
  if (points.empty()) return {};
  const Scale y = VerticalScale(points);
  Scale x{points.front().x, points.back().x, kLeft, kPlotWidth - kRight};
  if (!options.band) x.begin += 20, x.end -= 20;
  if (x.from == x.to) x.from -= 1, x.to += 1;
  // The same title may stand on the page twice; clipping refers to the plot by its own numbers.
  const std::string clip = absl::StrFormat("clip-%zu-%.0f-%.0f", points.size(), points.front().x, 1e6 * y.to);
  std::string svg = absl::StrFormat(
      "<svg viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"%s\"><title>%s</title>"
      "<clipPath id=\"%s\"><rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\"/></clipPath>",
      kPlotWidth, kPlotHeight, EscapeHtml(options.title), EscapeHtml(options.title), clip, kLeft, kTop,
      kPlotWidth - kLeft - kRight, kPlotHeight - kTop - kBottom);
  AppendAxes(x, y, points, options, &svg);
  absl::StrAppend(&svg, "<g clip-path=\"url(#", clip, ")\">");
  if (options.band && points.size() > 1) AppendBand(x, y, points, &svg);
  for (size_t i = 0; i < points.size(); ++i) {
    // A band has a dot at its end alone.
    if (options.band && i + 1 < points.size()) continue;
    AppendPoint(x, y, points[i], !options.band || points.size() == 1, &svg);
  }
  return svg + "</g></svg>";
}

std::string IntervalRow(const IntervalPoint& point, double least, double most) {
  if (!(most > least)) return {};
  const Scale x{least, most, 4, kRowWidth - 4};
  const double middle = kRowHeight / 2;
  const auto clamp = [&](double value) { return x.At(std::clamp(value, least, most)); };
  return absl::StrFormat(
      "<svg class=\"row\" viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"%s\"><title>%s</title>"
      "<line class=\"zero\" x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%g\"/>"
      "<line class=\"bar\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%g\" y2=\"%g\"/><circle class=\"dot\" cx=\"%.1f\" "
      "cy=\"%g\" "
      "r=\"4\"/></svg>",
      kRowWidth, kRowHeight, EscapeHtml(point.label), EscapeHtml(point.label), clamp(0), clamp(0), kRowHeight,
      clamp(point.low), clamp(point.high), middle, middle, clamp(point.estimate), middle);
}

std::string EscapeHtml(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

}  // namespace waymark
