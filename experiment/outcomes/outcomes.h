// Follows the log for one experiment: from events to the units that they belong to, to their outcomes.
//
//   Outcomes outcomes(record, metrics, people);
//   outcomes.Enrol(exposure);
//   outcomes.Observe(event);
//   outcomes.table();
//
// Not thread-safe.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "experiment/outcomes/outcome_table.h"
#include "store/ids.h"

namespace waymark {

// Users and visitors by number and by key («u:ann», «v:cookie»).
class People {
 public:
  virtual ~People() = default;
  virtual std::optional<UserNumber> NumberOf(const std::string& unit) const = 0;
  // Empty: nobody (any more).
  virtual std::string UnitOf(UserNumber number) const = 0;
};

class Outcomes {
 public:
  // `people` lives longer.
  Outcomes(const storage::ExperimentRecord& record, std::vector<MetricPlan> metrics, size_t primary,
           const People* people);

  // The row; an exposure that adopted a visitor's arm goes on with the visitor's row, and one of a visitor
  // that is kept as a user's goes on with the user's.
  OutcomeTable::Row Enrol(const storage::ExposureRecord& exposure);
  void Observe(const storage::EventRecord& event);
  // Of a unit that was enrolled after the log had been read past this event.
  void ObservePast(OutcomeTable::Row row, const storage::EventRecord& event) { table_.Count(row, event); }
  void Exclude(const std::string& unit);
  // Two units of one arm are one.
  void Merge(const std::string& visitor, const std::string& user);
  // The user's data is to be forgotten: the keys that stood for it, none when it is not of this experiment.
  std::vector<std::string> Erase(UserNumber number);

  // What an identify event that was observed means for enrolment; the caller makes it last.
  struct Joined {
    std::string visitor, user;  // keys
  };
  std::vector<Joined> TakeJoined() { return std::exchange(joined_, {}); }

  std::optional<OutcomeTable::Row> RowOf(const std::string& unit) const;
  OutcomeTable& table() { return table_; }
  const OutcomeTable& table() const { return table_; }
  const std::vector<std::string>& segments() const { return segments_; }

 private:
  uint16_t SegmentOf(const std::string& name);
  std::optional<OutcomeTable::Row> FindRow(UserNumber number);
  void Join(UserNumber user, UserNumber visitor);

  const storage::ExperimentRecord::Unit unit_;
  const People* const people_;
  OutcomeTable table_;
  std::vector<std::string> segments_;
  absl::flat_hash_map<std::string, uint16_t> segment_numbers_;
  absl::flat_hash_map<std::string, OutcomeTable::Row> by_unit_;
  absl::flat_hash_map<UserNumber, OutcomeTable::Row> by_number_;
  // Units that had no number yet when they were enrolled, and numbers that have been asked for since.
  absl::flat_hash_set<std::string> unnumbered_;
  absl::flat_hash_set<UserNumber> asked_;
  absl::flat_hash_set<std::string> adopted_;  // visitors whose row a user goes on with
  std::vector<Joined> joined_;
};

}  // namespace waymark
