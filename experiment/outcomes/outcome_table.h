// What the units of one experiment did: sums by unit and metric, kept up event by event, so that a report
// adds up units and never reads the log.
//
//   OutcomeTable table(metrics, {.arms = 2, .lookback_us = kTwoWeeks});
//   OutcomeTable::Row row = table.Add({.arm = 1, .exposed_us = now});
//   table.Count(row, event);
//   auto moments = table.Read(0, cap);        // [segment][arm]
//
// Not thread-safe.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "experiment/outcomes/metric_plan.h"
#include "experiment/statistics/moments.h"

namespace waymark {

struct OutcomeTableOptions {
  size_t arms = 2;
  // Events this long before the exposure are the covariate of CUPED; 0: none.
  int64_t lookback_us = 0;
  // The metric whose effect is also kept by day since exposure.
  size_t primary = 0;
};

class OutcomeTable {
 public:
  using Row = uint32_t;
  static constexpr int kMostDays = 28;

  OutcomeTable(std::vector<MetricPlan> metrics, const OutcomeTableOptions& options);

  struct Unit {
    int arm = 0;
    int64_t exposed_us = 0;
    uint16_t segment = 0;
    float propensity = 1;  // with which it got its arm
  };
  Row Add(const Unit& unit);
  // An event of the unit, in any order. Outside window and lookback it counts nothing.
  void Count(Row row, const storage::EventRecord& event);
  // Two rows that turn out to be one unit of one arm: `from` is added to `to`, and counts no longer.
  void Merge(Row from, Row to);
  // The unit was exposed at this time already.
  void ExposedBy(Row row, int64_t time_us) {
    units_[row].exposed_us = std::min(units_[row].exposed_us, time_us);
  }
  // The unit counts no longer (seen in two arms, erased).
  void Exclude(Row row) { excluded_[row] = true; }
  bool excluded(Row row) const { return excluded_[row]; }
  const Unit& unit(Row row) const { return units_[row]; }

  const std::vector<MetricPlan>& metrics() const { return metrics_; }
  const OutcomeTableOptions& options() const { return options_; }
  size_t rows() const { return units_.size(); }
  size_t segments() const { return segments_; }

  static constexpr int64_t kAlways = std::numeric_limits<int64_t>::max();
  // Units by arm; of those exposed at `from_us` or later, and at `until_us` or before.
  std::vector<int64_t> CountUnits(int64_t from_us, int64_t until_us = kAlways) const;
  // Days (UTC) on which units were exposed for the first time.
  int64_t DaysWithExposures() const;

  // [segment][arm]. y: the metric's sum (of a PROPORTION 0 or 1), cut to `cap` where it is over 0; x: its
  // denominator for a RATIO, else its past. Of units exposed at `until_us` or before.
  using Groups = std::vector<std::vector<statistics::PairMoments>>;
  Groups Read(size_t metric, double cap, int64_t until_us = kAlways) const;
  // y of one unit.
  double Value(Row row, size_t metric, double cap) const;
  // By arm, unit by unit, of those exposed at `until_us` or before.
  std::vector<std::vector<double>> Values(size_t metric, int64_t until_us = kAlways) const;
  // [day][arm] of the primary metric: what units did on their n-th day, of those whose n-th day is over.
  std::vector<std::vector<statistics::Moments>> ReadDays(int64_t now_us) const;

 private:
  double& Cell(std::vector<double>& column, size_t metric, Row row) {
    return column[row * metrics_.size() + metric];
  }
  double Cell(const std::vector<double>& column, size_t metric, Row row) const {
    return column[row * metrics_.size() + metric];
  }
  void CountDay(Row row, int64_t age_us, double value);

  const std::vector<MetricPlan> metrics_;
  const OutcomeTableOptions options_;
  size_t days_ = 0, segments_ = 1;
  bool ratios_ = false;
  std::vector<Unit> units_;
  std::vector<bool> excluded_;
  std::vector<double> sums_, denominators_, pasts_;  // [row][metric]
  std::vector<float> daily_;                         // [row][day]
};

}  // namespace waymark
