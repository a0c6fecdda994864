// The ends of users' histories, kept while their events are coming in, so that counting an event needs no
// read of the store; and where in a history a late event belongs.
//
// Bounded: at most `limit` lines over all users, the users that came least recently go first. Not
// thread-safe.
#pragma once
#include <compare>
#include <list>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "store/store.h"

namespace waymark {

// A line of a history; ordered as histories are.
struct HistoryLine {
  int64_t time_us = 0;
  LogOffset offset = 0;
  uint32_t index = 0;  // of the item in its event
  ItemOrdinal item = kNoItem;
  auto operator<=>(const HistoryLine&) const = default;
};

// The neighbours of a new line: at most `window` on each side, oldest first.
struct HistoryPlaceOf {
  std::vector<ItemOrdinal> before, after;
  // False: the line is older than all that is kept of a very long history, and nothing is known around it.
  bool known = true;
};

class RecentHistories {
 public:
  RecentHistories(const Store* store, Scope scope, size_t window, size_t limit = size_t{1} << 20)
      : store_(store), scope_(scope), window_(window), limit_(limit) {}

  // Puts the line into the user's history, which until then has what the log has told before line.offset.
  HistoryPlaceOf Insert(UserNumber user, const HistoryLine& line, const EventTypes& types);
  // The user's history has changed otherwise: joined with a visitor's, or erased.
  void Forget(UserNumber user);

 private:
  struct Kept {
    std::vector<HistoryLine> lines;  // ascending
    bool complete = false;           // nothing is older than the first of them
    std::list<UserNumber>::iterator recency;
  };
  void Load(UserNumber user, const HistoryLine& before, const EventTypes& types, size_t limit, Kept* kept);
  void MakeRoom(UserNumber keep);

  const Store* store_;
  const Scope scope_;
  const size_t window_, limit_;
  absl::flat_hash_map<UserNumber, Kept> users_;
  std::list<UserNumber> recency_;  // newest first
  size_t lines_ = 0;
};

}  // namespace waymark
