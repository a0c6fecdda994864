#include "experiment/outcomes/outcomes.h"

#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

using storage::ExperimentRecord;

// Segments beyond are one.
constexpr size_t kMostSegments = 50;
constexpr char kOtherSegments[] = "(other)";

bool Numbered(const std::string& unit) { return unit.starts_with("u:") || unit.starts_with("v:"); }

}  // namespace

Outcomes::Outcomes(const ExperimentRecord& record, std::vector<MetricPlan> metrics, size_t primary,
                   const People* people)
    : unit_(record.unit()),
      people_(people),
      table_(std::move(metrics), {.arms = static_cast<size_t>(record.arms_size()),
                                  .lookback_us = record.lookback_us(),
                                  .primary = primary}) {}

uint16_t Outcomes::SegmentOf(const std::string& name) {
  const bool full = segments_.size() + 1 >= kMostSegments && !segment_numbers_.contains(name);
  const auto [entry, added] =
      segment_numbers_.try_emplace(full ? kOtherSegments : name, static_cast<uint16_t>(segments_.size()));
  if (added) segments_.push_back(entry->first);
  return entry->second;
}

OutcomeTable::Row Outcomes::Enrol(const storage::ExposureRecord& exposure) {
  if (const auto known = RowOf(exposure.unit())) return *known;
  std::optional<OutcomeTable::Row> row;
  if (exposure.adopted_from().starts_with("u:")) {
    row = RowOf(exposure.adopted_from());
    if (row) table_.ExposedBy(*row, exposure.time_us());
  } else if (!exposure.adopted_from().empty() && adopted_.insert(exposure.adopted_from()).second) {
    // The first who adopts is the visitor; a second person behind the same cookie is not.
    row = RowOf(exposure.adopted_from());
  }
  if (!row) {
    const auto propensity = static_cast<float>(exposure.propensity() > 0 ? exposure.propensity() : 1);
    row = table_.Add({exposure.arm(), exposure.time_us(), SegmentOf(exposure.segment()), propensity});
  }
  by_unit_[exposure.unit()] = *row;
  if (exposure.conflict()) table_.Exclude(*row);
  if (!Numbered(exposure.unit())) return *row;
  const auto number =
      exposure.number() != 0 ? std::optional(exposure.number()) : people_->NumberOf(exposure.unit());
  if (number) {
    by_number_[*number] = *row;
  } else {
    unnumbered_.insert(exposure.unit());
  }
  return *row;
}

std::optional<OutcomeTable::Row> Outcomes::RowOf(const std::string& unit) const {
  const auto found = by_unit_.find(unit);
  if (found == by_unit_.end()) return std::nullopt;
  return found->second;
}

std::optional<OutcomeTable::Row> Outcomes::FindRow(UserNumber number) {
  if (number == 0) return std::nullopt;
  if (const auto found = by_number_.find(number); found != by_number_.end()) return found->second;
  if (unnumbered_.empty() || !asked_.insert(number).second) return std::nullopt;
  const std::string unit = people_->UnitOf(number);
  const auto row = RowOf(unit);
  if (row && unnumbered_.erase(unit) > 0) by_number_[number] = *row;
  return row;
}

void Outcomes::Observe(const storage::EventRecord& event) {
  std::optional<OutcomeTable::Row> row;
  switch (unit_) {
    case ExperimentRecord::SESSION:
      row = RowOf(absl::StrCat("s:", event.session_id()));
      break;
    case ExperimentRecord::REQUEST:
      row = RowOf(absl::StrCat("r:", event.request_id()));
      break;
    case ExperimentRecord::VISITOR:
      row = FindRow(event.visitor());
      break;
    default:
      if (event.type() == event_code::kIdentify && event.user() != 0 && event.visitor() != 0) {
        Join(event.user(), event.visitor());
      }
      row = FindRow(event.user());
      // A known user's events are the visitor's while only the visitor is enrolled.
      if (!row) row = FindRow(event.visitor());
      break;
  }
  if (row && !table_.excluded(*row)) table_.Count(*row, event);
}

void Outcomes::Join(UserNumber user, UserNumber visitor) {
  const auto from = FindRow(visitor);
  if (!from) return;
  const auto to = FindRow(user);
  if (to && *to == *from) return;
  if (to && table_.unit(*to).arm == table_.unit(*from).arm) {
    if (!table_.excluded(*to)) {
      table_.Merge(*from, *to);
      by_number_[visitor] = *to;
    }
    return;
  }
  const std::string user_unit = people_->UnitOf(user), visitor_unit = people_->UnitOf(visitor);
  if (user_unit.empty() || visitor_unit.empty()) return;
  joined_.push_back({visitor_unit, user_unit});
  if (to) {
    table_.Exclude(*from);
    table_.Exclude(*to);
  } else if (adopted_.insert(visitor_unit).second) {
    by_number_[user] = by_unit_[user_unit] = *from;
  }
}

void Outcomes::Exclude(const std::string& unit) {
  if (const auto row = RowOf(unit)) table_.Exclude(*row);
}

void Outcomes::Merge(const std::string& visitor, const std::string& user) {
  const auto from = RowOf(visitor), to = RowOf(user);
  if (!from || !to || *from == *to || table_.excluded(*from) || table_.excluded(*to)) return;
  table_.Merge(*from, *to);
  by_unit_[visitor] = *to;
  if (const auto number = people_->NumberOf(visitor)) by_number_[*number] = *to;
}

std::vector<std::string> Outcomes::Erase(UserNumber number) {
  const auto found = by_number_.find(number);
  if (found == by_number_.end()) return {};
  const OutcomeTable::Row row = found->second;
  table_.Exclude(row);
  std::vector<std::string> units;
  for (const auto& [unit, held] : by_unit_) {
    if (held == row) units.push_back(unit);
  }
  for (const std::string& unit : units) by_unit_.erase(unit);
  by_number_.erase(number);
  return units;
}

}  // namespace waymark
