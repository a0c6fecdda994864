// The keys of the store: how text and numbers become bytes whose order is the order that we iterate in.
//
// Every key of collection data begins with the scope (tenant, collection; 4 bytes each). Numbers are
// big-endian, so that bytes compare like numbers; event time has its sign bit flipped.
//
//   LogKey({1, 1}, 7)  ->  00000001 00000001 0000000000000007
//   an iterator from LogKey(scope, after + 1) to ScopeEnd(scope) reads the log's tail in order
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/ids.h"

namespace waymark {

inline constexpr size_t kScopeBytes = 8;

void AppendBigEndian32(std::string& key, uint32_t number);
void AppendBigEndian64(std::string& key, uint64_t number);
uint32_t ReadBigEndian32(std::string_view bytes);  // needs 4 bytes
uint64_t ReadBigEndian64(std::string_view bytes);  // needs 8 bytes

std::string ScopeKey(Scope scope);
// The first key after all keys that begin with `prefix`; empty when there is none.
std::string PrefixEnd(std::string_view prefix);

// items, item_names: scope + ordinal.
std::string ItemKey(Scope scope, ItemOrdinal item);
ItemOrdinal ItemOfKey(std::string_view key);
// item_ids: scope + text.
std::string ItemIdKey(Scope scope, std::string_view id);

// users: scope + number.
std::string UserKey(Scope scope, UserNumber user);
UserNumber UserOfKey(std::string_view key);
// user_ids: scope + 'u' or 'v' + text.
std::string UserIdKey(Scope scope, bool visitor, std::string_view id);
// Beside them: scope + 'k' + number, the user's secret (store/user_secrets_impl.h).
std::string UserSecretKey(Scope scope, UserNumber user);
// user_log: scope + number + offset. Log entries of a user that its history does not name: changes of
// attributes, and events without items. Erasure finds them here.
std::string UserLogKey(Scope scope, UserNumber user, LogOffset offset);

// log: scope + offset.
std::string LogKey(Scope scope, LogOffset offset);
LogOffset OffsetOfLogKey(std::string_view key);

// event_ids: scope + XXH3-128 of the text. A hash, so that an id outlives the erasure of its user without
// its text: an event that is sent again after an erasure stays a duplicate.
std::string EventIdKey(Scope scope, std::string_view event_id);

// history: scope + user + event time + offset + place among the event's items.
struct HistoryPlace {
  int64_t time_us = 0;
  LogOffset offset = 0;
  uint16_t item_index = 0;
};
inline constexpr size_t kHistoryPlaceBytes = 18;
std::string HistoryPrefix(Scope scope, UserNumber user);
std::string HistoryKey(Scope scope, UserNumber user, const HistoryPlace& place);
UserNumber UserOfHistoryKey(std::string_view key);
// None when the key has not the length of a history key.
std::optional<HistoryPlace> PlaceOfHistoryKey(std::string_view key);

}  // namespace waymark
