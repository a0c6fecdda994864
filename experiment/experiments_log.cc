// Following the log, from events to outcomes.
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "experiment/experiments_impl.h"

namespace waymark {
namespace {

using storage::ExperimentRecord;
using storage::ExposureRecord;

constexpr size_t kEntriesARead = 10000;

}  // namespace

// The end is read before the news: an event up to there was written after its unit's exposure, so the unit is
// among them.
absl::Status Experiments::Impl::CatchUp() {
  const LogOffset end = store->End();
  for (const auto& one : AllLive()) {
    if (absl::Status status = TakeNews(*one, position); !status.ok()) return status;
  }
  absl::flat_hash_set<UserNumber> erased;
  absl::Status status = ReadLog(end, AllLive(), &position, retired.empty() ? nullptr : &erased);
  if (status.ok()) status = FollowErasures(erased);
  // Not before the log has been read: after a restart it has the clicks of lists that are over by now.
  for (const auto& one : AllLive()) {
    if (status.ok() && one->lists != nullptr) one->lists->Prune(absl::ToUnixMicros(options.clock->Now()));
  }
  return status;
}

absl::Status Experiments::Impl::TakeNews(LiveExperiment& one, LogOffset read_until) {
  if (one.lists != nullptr) {
    std::vector<ExposureRecord> shown;
    {
      std::lock_guard<std::mutex> lock(one.new_lists_mutex);
      shown.swap(one.new_lists);
    }
    for (const ExposureRecord& list : shown) one.lists->Add(list);
    return absl::OkStatus();
  }
  Enrolments::News news = one.enrolments.TakeNews();
  // Who adopts a visitor's arm goes on with its row, which has to be there.
  std::stable_partition(news.enrolled.begin(), news.enrolled.end(),
                        [](const ExposureRecord& exposure) { return exposure.adopted_from().empty(); });
  for (const ExposureRecord& exposure : news.enrolled) {
    const OutcomeTable::Row row = one.outcomes->Enrol(exposure);
    if (read_until > 0 && one.outcomes->table().options().lookback_us > 0) {
      ReadPast(one, exposure, row, read_until);
    }
  }
  for (const auto& [visitor, user] : news.same) one.outcomes->Merge(visitor, user);
  for (const std::string& unit : news.conflicts) one.outcomes->Exclude(unit);
  return absl::OkStatus();
}

void Experiments::Impl::ReadPast(LiveExperiment& one, const ExposureRecord& exposure, OutcomeTable::Row row,
                                 LogOffset read_until) {
  if (exposure.unit()[0] != 'u' && exposure.unit()[0] != 'v') return;
  const auto number = people.NumberOf(exposure.unit());
  if (!number || !exposure.adopted_from().empty()) return;
  const int64_t first = exposure.time_us() - one.outcomes->table().options().lookback_us;
  absl::flat_hash_set<LogOffset> seen;
  for (const HistoryEvent& line : store->ReadHistory(
           scope, *number, {.limit = options.history_limit, .not_before = absl::FromUnixMicros(first)})) {
    if (line.offset > read_until || !seen.insert(line.offset).second) continue;
    const auto event = store->GetEvent(scope, line.offset);
    if (event.ok()) one.outcomes->ObservePast(row, *event);
  }
}

absl::Status Experiments::Impl::ReadLog(LogOffset end,
                                        const std::vector<std::shared_ptr<LiveExperiment>>& all,
                                        LogOffset* from, absl::flat_hash_set<UserNumber>* erased) {
  if (all.empty() && erased == nullptr) *from = std::max(*from, end);
  while (*from < end) {
    bool past_end = false;
    LogOffset seen = *from;
    auto reached = store->Read(scope, *from, kEntriesARead, [&](const Change& change) -> absl::Status {
      if (change.offset > end) {
        past_end = true;
        return absl::OutOfRangeError("past the end");
      }
      seen = change.offset;
      if (erased != nullptr && change.entry.has_erasure()) erased->insert(change.entry.erasure().user());
      for (const auto& one : all) {
        if (change.entry.has_event() && one->lists != nullptr) one->lists->Observe(change.entry.event());
        if (change.entry.has_event() && one->lists == nullptr) one->outcomes->Observe(change.entry.event());
        if (!change.entry.has_erasure()) continue;
        if (absl::Status status = Erase(*one, change.entry.erasure().user()); !status.ok()) return status;
      }
      return absl::OkStatus();
    });
    if (!reached.ok() && !past_end) return reached.status();
    *from = past_end ? end : std::min(end, std::max(seen, *reached));
    for (const auto& one : all) {
      if (absl::Status status = FollowJoins(*one); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::Status Experiments::Impl::Erase(LiveExperiment& one, UserNumber user) {
  if (one.lists != nullptr) {
    one.lists->Erase(user);
    return EraseLists(one.id, user, "");
  }
  for (const std::string& unit : one.outcomes->Erase(user)) {
    one.enrolments.Forget(unit);
    if (absl::Status status = store->DeleteExposure(scope, one.id, unit); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// Lists are stored under their requests; who was shown them stands in them.
absl::Status Experiments::Impl::EraseLists(const std::string& id, UserNumber user,
                                           const std::string& reader) {
  std::vector<std::string> units;
  absl::Status status = store->ForEachExposure(scope, id, [&](const ExposureRecord& list) {
    const bool numbered = user != 0 && list.number() == user;
    if (numbered || (!reader.empty() && list.reader() == reader)) units.push_back(list.unit());
    return true;
  });
  for (const std::string& unit : units) status.Update(store->DeleteExposure(scope, id, unit));
  return status;
}

// A visitor who turned out to be a user: the user goes on in the visitor's arm, or both are counted no
// longer.
absl::Status Experiments::Impl::FollowJoins(LiveExperiment& one) {
  for (const Outcomes::Joined& joined : one.outcomes->TakeJoined()) {
    if (one.enrolments.ArmOf(joined.user)) {
      for (const std::string& unit : {joined.user, joined.visitor}) {
        if (absl::Status status = MarkConflict(one, unit); !status.ok()) return status;
      }
      continue;
    }
    auto exposure = store->GetExposure(scope, one.id, joined.visitor);
    if (!exposure.ok()) continue;  // erased meanwhile
    exposure->set_unit(joined.user);
    exposure->set_adopted_from(joined.visitor);
    exposure->set_number(people.NumberOf(joined.user).value_or(0));
    if (one.enrolments.Enrol(*exposure) != Enrolments::Outcome::kNew) continue;
    if (absl::Status status = store->PutExposures(scope, {*exposure}); !status.ok()) return status;
  }
  return absl::OkStatus();
}

ReportInput Experiments::Impl::InputOf(const LiveExperiment& one, const ExperimentRecord& record,
                                       const Measures& measures) const {
  return {.record = &record,
          .outcomes = one.outcomes.get(),
          .lists = one.lists.get(),
          .served = &measures.served,
          .shadow = measures.shadow,
          .shares = measures.shares,
          .looks = &one.looks,
          .conflicts = one.enrolments.conflicts(),
          .now = options.clock->Now()};
}

absl::Status Experiments::CatchUp() {
  std::lock_guard<std::mutex> follow(impl_->follow_mutex);
  return impl_->CatchUp();
}

absl::StatusOr<ExperimentReport> Experiments::Report(const std::string& id) {
  auto record = Get(id);
  if (!record.ok()) return record.status();
  if (record->state() == ExperimentRecord::DRAFT) {
    return absl::FailedPreconditionError(
        absl::StrCat("experiment '", id, "' is a draft, there is nothing to report: start it first"));
  }
  absl::StatusOr<ExperimentReport> report = absl::InternalError("not made");
  absl::Status status = impl_->WithFigures(*record, [&](LiveExperiment& one) {
    report = MakeReport(impl_->InputOf(one, *record, Impl::MeasuresOf(one, *record)));
  });
  if (!status.ok()) return status;
  return report;
}

}  // namespace waymark
