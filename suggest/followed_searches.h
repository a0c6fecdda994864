// Which searches led to something: pairs the searches that were served with events on items that name their
// request, whichever of the two comes first.
//
//   if (auto query = followed.Served(record.request_id(), record.query(), user)) ...   // an event was
//   waiting if (auto search = followed.Followed(event.request_id())) ...                       // the search
//   was known
//
// Keeps the newest searches and the newest events that wait, kMost of each: what lies further apart, or
// across a restart, is not paired. One thread.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "store/ids.h"

namespace waymark {

class FollowedSearches {
 public:
  static constexpr size_t kMost = 1 << 16;
  struct Search {
    std::string query;
    UserNumber user = 0;
  };

  // True: an event on it was there already.
  bool Served(std::string_view request_id, std::string_view query, UserNumber user);
  // The search that an event follows; none: not known, or not yet.
  std::optional<Search> Followed(std::string_view request_id);
  // Erasure.
  void Forget(absl::Span<const UserNumber> users);

 private:
  absl::flat_hash_map<uint64_t, Search> served_;  // by the hash of the request
  absl::flat_hash_set<uint64_t> waiting_;
  std::deque<uint64_t> served_order_, waiting_order_;  // oldest first
};

}  // namespace waymark
