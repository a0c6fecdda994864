// Estimates with their intervals as inline SVG: over time as a line in a band, at a few places as bars, and
// as one row of a table. Colours are CSS variables of the page (--line, --band, --axis, --ink), so that it
// can be dark.
//
//   std::string svg = IntervalPlot(points, {.title = "clicks, new against control", .band = true, .x_text =
//   TimeOfX});
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace waymark {

struct IntervalPoint {
  double x = 0;
  double estimate = 0, low = 0, high = 0;
  std::string label;  // read out, and shown under the pointer
};

struct PlotOptions {
  std::string title;
  bool band = false;  // a line in a band; else a bar for each point
  std::function<std::string(double)> x_text;
};

// Points in the order of x. Early intervals are wide: the scale is that of the later two thirds, and what is
// beyond it is cut. Empty with no points.
std::string IntervalPlot(const std::vector<IntervalPoint>& points, const PlotOptions& options);

// A bar between `least` and `most`, with a mark at 0.
std::string IntervalRow(const IntervalPoint& point, double least, double most);

// Some 4 to 8 round numbers within [least, most].
std::vector<double> RoundTicks(double least, double most);

std::string EscapeHtml(const std::string& text);

}  // namespace waymark
