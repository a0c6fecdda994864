// Histories: one family whose keys are already in the order that is asked for (user, event time, offset).
// A visitor's lines move under its user when it is joined, so a history is one stretch of keys.
#include <spdlog/spdlog.h>

#include <algorithm>

#include "store/store_impl.h"

namespace waymark {
namespace {

// How many of the newest lines are looked through for a session's events.
constexpr size_t kMaxSessionScan = 10000;

bool ReadLine(std::string_view key, std::string_view value, bool details, storage::HistoryValue& line,
              HistoryEvent& event) {
  const auto place = PlaceOfHistoryKey(key);
  if (!place.has_value() || !ParseRecord(value, "line of history", line).ok()) return false;
  event = {};
  event.item = line.item();
  event.type = line.type();
  event.time = absl::FromUnixMicros(place->time_us);
  event.received = absl::FromUnixMicros(line.received_time_us());
  event.offset = place->offset;
  if (line.has_value()) event.value = static_cast<float>(line.value());
  if (details) {
    event.surface = std::move(*line.mutable_surface());
    event.query = std::move(*line.mutable_query());
    event.session_id = std::move(*line.mutable_session_id());
  }
  return true;
}

// The numbers whose erasure is under way: their lines are not to be seen any more.
absl::StatusOr<std::vector<UserNumber>> UnderErasure(const Database& database, Scope scope,
                                                     const View& view) {
  std::vector<UserNumber> numbers;
  auto walk = database.Walk(Family::kMeta, std::string(kErasurePrefix).append(ScopeKey(scope)), false, &view);
  for (; walk->Valid(); walk->Next()) {
    const std::string_view note = walk->value();
    for (size_t at = 0; at + 8 <= note.size(); at += 8) numbers.push_back(ReadBigEndian64(note.substr(at)));
  }
  if (absl::Status status = database.Check(walk->status()); !status.ok()) return status;
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace

std::vector<HistoryEvent> Store::ReadHistory(Scope scope, UserNumber user,
                                             const HistoryOptions& options) const {
  std::vector<HistoryEvent> events;
  if (options.limit == 0) return events;
  auto record = GetUser(scope, user);
  if (!record.ok()) {  // nobody, or erased
    if (!absl::IsNotFound(record.status())) spdlog::error("a history: {}", record.status().ToString());
    return events;
  }
  const UserNumber owner = record->joined_to() != 0 ? record->joined_to() : user;
  std::string begin = HistoryPrefix(scope, owner);
  std::string end = PrefixEnd(begin);
  if (options.not_before.has_value()) {
    begin = HistoryKey(scope, owner, {absl::ToUnixMicros(*options.not_before), 0, 0});
  }
  const bool by_session = !options.session_id.empty();
  const auto walk = impl_->database->Walk(Family::kHistory, std::move(begin), std::move(end), false);
  storage::HistoryValue line;
  HistoryEvent event;
  walk->SeekLast();
  for (size_t scanned = 0; walk->Valid() && events.size() < options.limit; walk->Prev(), ++scanned) {
    if (by_session && scanned == kMaxSessionScan) break;
    if (!ReadLine(walk->key(), walk->value(), options.details || by_session, line, event)) {
      spdlog::error("a line of the history of user {} cannot be read", owner);
      continue;
    }
    if (by_session && event.session_id != options.session_id) continue;
    if (!options.details) event.session_id.clear(), event.query.clear(), event.surface.clear();
    events.push_back(std::move(event));
  }
  if (!walk->status().ok()) spdlog::error("a history: {}", impl_->database->Check(walk->status()).ToString());
  return events;
}

absl::Status Store::ForEachHistory(
    Scope scope, LogOffset up_to,
    const std::function<bool(UserNumber, absl::Span<const HistoryEvent>)>& visit) const {
  const Database& database = *impl_->database;
  const View view = database.Now();
  auto erased = UnderErasure(database, scope, view);
  if (!erased.ok()) return erased.status();
  auto walk = database.Walk(Family::kHistory, ScopeKey(scope), true, &view);
  std::vector<HistoryEvent> events;
  storage::HistoryValue line;
  HistoryEvent event;
  while (walk->Valid()) {
    const UserNumber user = UserOfHistoryKey(walk->key());
    const bool hidden = std::binary_search(erased->begin(), erased->end(), user);
    events.clear();
    for (; walk->Valid() && UserOfHistoryKey(walk->key()) == user; walk->Next()) {
      if (hidden) continue;
      if (!ReadLine(walk->key(), walk->value(), true, line, event)) {
        return absl::DataLossError("a line of a history cannot be read");
      }
      if (event.offset <= up_to) events.push_back(std::move(event));
    }
    if (!events.empty() && !visit(user, events)) return absl::OkStatus();
  }
  return database.Check(walk->status());
}

}  // namespace waymark
