#include "recommend/interactions.h"

#include <algorithm>

namespace waymark {

void Interactions::AddUser(UserNumber user, absl::Span<const ItemOrdinal> its,
                           absl::Span<const int64_t> times, absl::Span<const LogOffset> offs) {
  users.push_back(user);
  items.insert(items.end(), its.begin(), its.end());
  times_us.insert(times_us.end(), times.begin(), times.end());
  offsets.insert(offsets.end(), offs.begin(), offs.end());
  starts.push_back(items.size());
  for (ItemOrdinal item : its) item_end = std::max(item_end, item + 1);
}

Interactions Interactions::WithoutLast(size_t count) const {
  Interactions out;
  for (size_t u = 0; u < user_count(); ++u) {
    const size_t length = starts[u + 1] - starts[u];
    const size_t kept = length > count ? length - count : 0;
    out.AddUser(users[u], ItemsOf(u).first(kept), absl::MakeConstSpan(times_us).subspan(starts[u], kept),
                absl::MakeConstSpan(offsets).subspan(starts[u], kept));
  }
  out.item_end = item_end;
  return out;
}

Interactions Interactions::UpTo(LogOffset up_to) const {
  Interactions out;
  for (size_t u = 0; u < user_count(); ++u) {
    out.users.push_back(users[u]);
    for (size_t i = starts[u]; i < starts[u + 1]; ++i) {
      if (offsets[i] > up_to) continue;
      out.items.push_back(items[i]);
      out.times_us.push_back(times_us[i]);
      out.offsets.push_back(offsets[i]);
    }
    out.starts.push_back(out.items.size());
  }
  out.item_end = item_end;
  return out;
}

}  // namespace waymark
