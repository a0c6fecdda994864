#include "app/served_export.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "app/data_copy.h"
#include "store/rows/flat_row.h"
#include "store/served_log.h"

namespace waymark {
namespace {

ServedList ListOf(const storage::ServeRecord& record, const Store& store, Scope scope) {
  ServedList list;
  list.request_id = record.request_id();
  list.time = absl::FromUnixMicros(record.time_us());
  list.surface = record.surface();
  list.query = record.query();
  list.release = record.release_id();
  list.arm = record.arm();
  if (record.user() != 0) {
    if (auto user = store.GetUser(scope, record.user()); user.ok()) list.user_id = user->id();  // else erased
  }
  std::vector<ItemOrdinal> items;
  for (const storage::ServedItem& shown : record.shown()) items.push_back(shown.item());
  const std::vector<std::string> ids = store.ItemIds(scope, items);
  for (size_t i = 0; i < ids.size(); ++i) {
    const storage::ServedItem& shown = record.shown(static_cast<int>(i));
    ServedList::Item& item = list.items.emplace_back();
    item.item_id = ids[i];
    item.score = shown.score();
    if (i < record.teams().size()) item.team = static_cast<unsigned char>(record.teams()[i]);
    if (shown.has_exploration()) {
      const storage::Exploration& explored = shown.exploration();
      item.exploration = {explored.propensity(), explored.drawn(), explored.as_ranked() ? 1. : 0.,
                          explored.random()};
    }
  }
  return list;
}

std::vector<uint64_t> ItemsOf(const storage::ServeRecord& record) {
  std::vector<uint64_t> items;
  for (const storage::ServedItem& shown : record.shown()) items.push_back(shown.item());
  return items;
}

struct ServedData {
  std::unique_ptr<DataCopy> copy;
  std::unique_ptr<Store> store;
  Scope scope;
  std::unique_ptr<ServedLog> log;
};

absl::StatusOr<ServedData> OpenServed(Backend* backend, const std::string& data, const CollectionName& name) {
  ServedData opened;
  auto copy = DataCopy::Make(backend, data);
  if (!copy.ok()) return copy.status();
  opened.copy = *std::move(copy);
  StoreOptions options;
  options.create = false;
  options.read_only = true;
  auto store = Store::Open(opened.copy->folder(), options);
  if (!store.ok()) return store.status();
  opened.store = *std::move(store);
  auto scope = opened.store->FindCollection(name);
  if (!scope.ok()) return scope.status();
  opened.scope = *scope;
  ServedLogOptions log_options;
  log_options.read_only = true;
  auto log = ServedLog::Open(data, log_options);
  if (!log.ok()) return log.status();
  opened.log = *std::move(log);
  return opened;
}

using Responses = absl::flat_hash_map<std::pair<std::string, ItemOrdinal>, absl::Time>;

// The first event of the type on each item of each list.
absl::StatusOr<Responses> ReadResponses(const Store& store, Scope scope, EventTypeCode type) {
  constexpr size_t kAtOnce = 4096;
  Responses responses;
  const LogOffset end = store.End();
  for (LogOffset at = 0; at < end;) {
    auto read = store.Read(scope, at, kAtOnce, [&](const Change& change) {
      const storage::EventRecord& event = change.entry.event();
      if (event.type() != type || event.request_id().empty()) return absl::OkStatus();
      const absl::Time time = absl::FromUnixMicros(std::min(event.time_us(), event.received_time_us()));
      for (const storage::EventItem& item : event.items()) {
        const auto [first, added] = responses.try_emplace({event.request_id(), item.item()}, time);
        if (!added) first->second = std::min(first->second, time);
      }
      return absl::OkStatus();
    });
    if (!read.ok()) return read.status();
    at = *read;
  }
  return responses;
}

absl::StatusOr<EventTypeCode> FindEventType(const EventTypes& types, const std::string& name) {
  if (const EventType* type = types.Find(name)) return type->code;
  std::vector<std::string> known;
  for (const EventType& type : types.All()) known.push_back(type.name);
  return absl::InvalidArgumentError(
      absl::StrCat("there is no event type '", name, "'; there are ", absl::StrJoin(known, ", ")));
}

}  // namespace

absl::Status ExportServed(Backend* backend, const std::string& data, const CollectionName& name,
                          const std::function<absl::Status(const std::string& line)>& sink) {
  auto opened = OpenServed(backend, data, name);
  if (!opened.ok()) return opened.status();
  absl::Status written;
  auto read = opened->log->ForEach(opened->scope, std::nullopt, [&](const storage::ServeRecord& record) {
    written = sink(ServedRow(ListOf(record, *opened->store, opened->scope)));
    return written.ok();
  });
  return written.ok() ? read : written;
}

absl::StatusOr<DecisionCounts> ExportDecisions(
    Backend* backend, const std::string& data, const CollectionName& name, const DecisionOptions& options,
    const std::function<absl::Status(const std::string& line)>& sink) {
  auto opened = OpenServed(backend, data, name);
  if (!opened.ok()) return opened.status();
  auto type = FindEventType(opened->store->GetEventTypes(opened->scope), options.event);
  if (!type.ok()) return type.status();
  auto responses = ReadResponses(*opened->store, opened->scope, *type);
  if (!responses.ok()) return responses.status();
  const absl::Time now = absl::Now();
  DecisionCounts counts;
  absl::flat_hash_set<size_t> seen;  // a page that was asked for twice was decided once
  absl::Status written;
  auto read = opened->log->ForEach(opened->scope, std::nullopt, [&](const storage::ServeRecord& record) {
    const bool explored = std::any_of(record.shown().begin(), record.shown().end(),
                                      [](const storage::ServedItem& item) { return item.has_exploration(); });
    if (!explored) return true;
    if (!seen.insert(absl::HashOf(record.request_id(), ItemsOf(record))).second) return true;
    ++counts.lists;
    const absl::Time last = absl::FromUnixMicros(record.time_us()) + options.within;
    if (last > now) {
      ++counts.younger;
      return true;
    }
    const ServedList list = ListOf(record, *opened->store, opened->scope);
    for (size_t place = 0; place < list.items.size() && written.ok(); ++place) {
      if (!list.items[place].exploration) continue;
      const ItemOrdinal item = record.shown(static_cast<int>(place)).item();
      const auto response = responses->find({record.request_id(), item});
      const bool in_time = response != responses->end() && response->second <= last;
      written = sink(DecisionRow(list, place, in_time ? 1 : 0));
    }
    return written.ok();
  });
  if (!written.ok()) return written;
  if (!read.ok()) return read;
  return counts;
}

}  // namespace waymark
