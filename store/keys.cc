#include "store/keys.h"

#include <xxhash.h>

namespace waymark {
namespace {

constexpr uint64_t kSignBit = uint64_t{1} << 63;

std::string WithScope(Scope scope, size_t more) {
  std::string key;
  key.reserve(kScopeBytes + more);
  AppendBigEndian32(key, scope.tenant);
  AppendBigEndian32(key, scope.collection);
  return key;
}

}  // namespace

void AppendBigEndian32(std::string& key, uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) key.push_back(static_cast<char>(number >> shift));
}

void AppendBigEndian64(std::string& key, uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) key.push_back(static_cast<char>(number >> shift));
}

uint32_t ReadBigEndian32(std::string_view bytes) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i) number = (number << 8) | static_cast<uint8_t>(bytes[i]);
  return number;
}

uint64_t ReadBigEndian64(std::string_view bytes) {
  uint64_t number = 0;
  for (size_t i = 0; i < 8; ++i) number = (number << 8) | static_cast<uint8_t>(bytes[i]);
  return number;
}

std::string ScopeKey(Scope scope) { return WithScope(scope, 0); }

std::string PrefixEnd(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && static_cast<uint8_t>(end.back()) == 0xFF) end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(static_cast<uint8_t>(end.back()) + 1);
  return end;
}

std::string ItemKey(Scope scope, ItemOrdinal item) {
  std::string key = WithScope(scope, 4);
  AppendBigEndian32(key, item);
  return key;
}

ItemOrdinal ItemOfKey(std::string_view key) { return ReadBigEndian32(key.substr(kScopeBytes)); }

std::string ItemIdKey(Scope scope, std::string_view id) {
  std::string key = WithScope(scope, id.size());
  key += id;
  return key;
}

std::string UserKey(Scope scope, UserNumber user) {
  std::string key = WithScope(scope, 8);
  AppendBigEndian64(key, user);
  return key;
}

UserNumber UserOfKey(std::string_view key) { return ReadBigEndian64(key.substr(kScopeBytes)); }

std::string UserIdKey(Scope scope, bool visitor, std::string_view id) {
  std::string key = WithScope(scope, 1 + id.size());
  key.push_back(visitor ? 'v' : 'u');
  key += id;
  return key;
}

std::string UserSecretKey(Scope scope, UserNumber user) {
  std::string key = ScopeKey(scope);
  key.push_back('k');
  AppendBigEndian64(key, user);
  return key;
}

std::string UserLogKey(Scope scope, UserNumber user, LogOffset offset) {
  std::string key = WithScope(scope, 16);
  AppendBigEndian64(key, user);
  AppendBigEndian64(key, offset);
  return key;
}

std::string LogKey(Scope scope, LogOffset offset) {
  std::string key = WithScope(scope, 8);
  AppendBigEndian64(key, offset);
  return key;
}

LogOffset OffsetOfLogKey(std::string_view key) { return ReadBigEndian64(key.substr(kScopeBytes)); }

std::string EventIdKey(Scope scope, std::string_view event_id) {
  const XXH128_hash_t hash = XXH3_128bits(event_id.data(), event_id.size());
  std::string key = WithScope(scope, 16);
  AppendBigEndian64(key, hash.high64);
  AppendBigEndian64(key, hash.low64);
  return key;
}

std::string HistoryPrefix(Scope scope, UserNumber user) { return UserKey(scope, user); }

std::string HistoryKey(Scope scope, UserNumber user, const HistoryPlace& place) {
  std::string key = WithScope(scope, 8 + kHistoryPlaceBytes);
  AppendBigEndian64(key, user);
  AppendBigEndian64(key, static_cast<uint64_t>(place.time_us) ^ kSignBit);
  AppendBigEndian64(key, place.offset);
  key.push_back(static_cast<char>(place.item_index >> 8));
  key.push_back(static_cast<char>(place.item_index));
  return key;
}

UserNumber UserOfHistoryKey(std::string_view key) { return UserOfKey(key); }

std::optional<HistoryPlace> PlaceOfHistoryKey(std::string_view key) {
  if (key.size() != kScopeBytes + 8 + kHistoryPlaceBytes) return std::nullopt;
  key.remove_prefix(kScopeBytes + 8);
  HistoryPlace place;
  place.time_us = static_cast<int64_t>(ReadBigEndian64(key) ^ kSignBit);
  place.offset = ReadBigEndian64(key.substr(8));
  place.item_index =
      static_cast<uint16_t>((static_cast<uint8_t>(key[16]) << 8) | static_cast<uint8_t>(key[17]));
  return place;
}

}  // namespace waymark
