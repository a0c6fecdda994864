#include "experiment/outcomes/outcome_table.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"

namespace waymark {
namespace {

using storage::MetricRecord;

constexpr int64_t kDayUs = int64_t{24} * 3600 * 1000 * 1000;

}  // namespace

OutcomeTable::OutcomeTable(std::vector<MetricPlan> metrics, const OutcomeTableOptions& options)
    : metrics_(std::move(metrics)), options_(options) {
  const MetricPlan& primary = metrics_[options_.primary];
  if (primary.kind == MetricRecord::MEAN || primary.kind == MetricRecord::PROPORTION) {
    days_ = static_cast<size_t>(std::min<int64_t>(kMostDays, primary.window_us / kDayUs));
  }
  for (const MetricPlan& metric : metrics_) ratios_ |= metric.kind == MetricRecord::RATIO;
}

OutcomeTable::Row OutcomeTable::Add(const Unit& unit) {
  units_.push_back(unit);
  excluded_.push_back(false);
  const size_t cells = units_.size() * metrics_.size();
  sums_.resize(cells);
  if (ratios_) denominators_.resize(cells);
  if (options_.lookback_us > 0) pasts_.resize(cells);
  daily_.resize(units_.size() * days_);
  segments_ = std::max<size_t>(segments_, unit.segment + size_t{1});
  return static_cast<Row>(units_.size() - 1);
}

void OutcomeTable::Count(Row row, const storage::EventRecord& event) {
  const int64_t age = event.time_us() - units_[row].exposed_us;
  if (age < -options_.lookback_us) return;
  for (size_t m = 0; m < metrics_.size(); ++m) {
    const MetricPlan& metric = metrics_[m];
    if (age >= metric.window_us) continue;
    if (const auto value = metric.events.Of(event)) {
      if (age < 0) {
        Cell(pasts_, m, row) += *value;
      } else {
        Cell(sums_, m, row) += *value;
        if (m == options_.primary) CountDay(row, age, *value);
      }
    }
    if (metric.kind != MetricRecord::RATIO || age < 0) continue;
    if (const auto value = metric.denominator.Of(event)) Cell(denominators_, m, row) += *value;
  }
}

void OutcomeTable::CountDay(Row row, int64_t age_us, double value) {
  const auto day = static_cast<size_t>(age_us / kDayUs);
  if (day < days_) daily_[row * days_ + day] += static_cast<float>(value);
}

void OutcomeTable::Merge(Row from, Row to) {
  if (from == to || excluded_[from]) return;
  for (size_t m = 0; m < metrics_.size(); ++m) {
    for (std::vector<double>* column : {&sums_, &denominators_, &pasts_}) {
      if (!column->empty()) Cell(*column, m, to) += Cell(*column, m, from);
    }
  }
  for (size_t day = 0; day < days_; ++day) daily_[to * days_ + day] += daily_[from * days_ + day];
  units_[to].exposed_us = std::min(units_[to].exposed_us, units_[from].exposed_us);
  Exclude(from);
}

std::vector<int64_t> OutcomeTable::CountUnits(int64_t from_us, int64_t until_us) const {
  std::vector<int64_t> counts(options_.arms, 0);
  for (Row row = 0; row < units_.size(); ++row) {
    const Unit& unit = units_[row];
    if (excluded_[row] || unit.exposed_us < from_us || unit.exposed_us > until_us) continue;
    ++counts[static_cast<size_t>(unit.arm)];
  }
  return counts;
}

int64_t OutcomeTable::DaysWithExposures() const {
  absl::flat_hash_set<int64_t> days;
  for (const Unit& unit : units_) days.insert(unit.exposed_us / kDayUs);
  return static_cast<int64_t>(days.size());
}

double OutcomeTable::Value(Row row, size_t metric, double cap) const {
  const double sum = Cell(sums_, metric, row);
  if (metrics_[metric].kind == MetricRecord::PROPORTION) return sum > 0 ? 1 : 0;
  return cap > 0 ? std::min(sum, cap) : sum;
}

OutcomeTable::Groups OutcomeTable::Read(size_t metric, double cap, int64_t until_us) const {
  const MetricPlan& plan = metrics_[metric];
  const bool ratio = plan.kind == MetricRecord::RATIO;
  const std::vector<double>& other = ratio ? denominators_ : pasts_;
  const auto shape = [&](double value) {
    if (plan.kind == MetricRecord::PROPORTION) return value > 0 ? 1.0 : 0.0;
    return cap > 0 ? std::min(value, cap) : value;
  };
  Groups groups(segments_, std::vector<statistics::PairMoments>(options_.arms));
  for (Row row = 0; row < units_.size(); ++row) {
    if (excluded_[row] || units_[row].exposed_us > until_us) continue;
    const double x = other.empty() ? 0 : Cell(other, metric, row);
    groups[units_[row].segment][static_cast<size_t>(units_[row].arm)].Add(shape(Cell(sums_, metric, row)),
                                                                          ratio ? x : shape(x));
  }
  return groups;
}

std::vector<std::vector<double>> OutcomeTable::Values(size_t metric, int64_t until_us) const {
  std::vector<std::vector<double>> values(options_.arms);
  for (Row row = 0; row < units_.size(); ++row) {
    if (excluded_[row] || units_[row].exposed_us > until_us) continue;
    values[static_cast<size_t>(units_[row].arm)].push_back(Cell(sums_, metric, row));
  }
  return values;
}

std::vector<std::vector<statistics::Moments>> OutcomeTable::ReadDays(int64_t now_us) const {
  std::vector<std::vector<statistics::Moments>> days(days_, std::vector<statistics::Moments>(options_.arms));
  const bool proportion = metrics_[options_.primary].kind == MetricRecord::PROPORTION;
  for (Row row = 0; row < units_.size(); ++row) {
    if (excluded_[row]) continue;
    const auto over = static_cast<size_t>(std::max<int64_t>(0, (now_us - units_[row].exposed_us) / kDayUs));
    for (size_t day = 0; day < std::min(days_, over); ++day) {
      const double value = daily_[row * days_ + day];
      days[day][static_cast<size_t>(units_[row].arm)].Add(proportion ? (value > 0 ? 1 : 0) : value);
    }
  }
  return days;
}

}  // namespace waymark
