// Who did something with what, in order: the histories of a collection's users as flat arrays. What counts
// and retrievers are made from.
#pragma once
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "store/store.h"

namespace waymark {

// Of user u, oldest first by (event time, offset): items[starts[u] .. starts[u + 1]), and the same of
// times_us, offsets.
struct Interactions {
  std::vector<UserNumber> users;    // [users]
  std::vector<uint64_t> starts{0};  // [users + 1]
  std::vector<ItemOrdinal> items;
  std::vector<int64_t> times_us;
  std::vector<LogOffset> offsets;
  ItemOrdinal item_end = 0;  // all items are below

  size_t user_count() const { return users.size(); }
  absl::Span<const ItemOrdinal> ItemsOf(size_t u) const {
    return absl::MakeConstSpan(items).subspan(starts[u], starts[u + 1] - starts[u]);
  }
  void AddUser(UserNumber user, absl::Span<const ItemOrdinal> its, absl::Span<const int64_t> times,
               absl::Span<const LogOffset> offs);
  // The same without the last `count` of each user (users that are left with nothing stay, empty).
  Interactions WithoutLast(size_t count) const;
  // Only what the log held at `up_to`.
  Interactions UpTo(LogOffset up_to) const;
};

// All events with a positive sign that name items, of the collection.
absl::StatusOr<Interactions> ReadInteractions(const Store& store, Scope scope, LogOffset up_to);

}  // namespace waymark
