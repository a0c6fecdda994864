#include "training/retriever/retriever_rows.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace waymark {

absl::StatusOr<RetrieverRows> MakeRetrieverRows(const Interactions& interactions, size_t held_out) {
  RetrieverRows out;
  std::vector<bool> seen(interactions.item_end, false);
  for (size_t u = 0; u < interactions.user_count(); ++u) {
    const uint64_t start = interactions.starts[u], end = interactions.starts[u + 1];
    out.ends.push_back(std::max(start, end - std::min<uint64_t>(end - start, held_out)));
    for (uint64_t e = start; e < out.ends[u]; ++e) seen[interactions.items[e]] = true;
    out.training_events += out.ends[u] - start;
    out.pairs += out.ends[u] - start >= 2 ? out.ends[u] - start - 1 : 0;
  }
  std::vector<int64_t> row_of(interactions.item_end, -1);
  for (ItemOrdinal item = 0; item < interactions.item_end; ++item) {
    if (!seen[item]) continue;
    row_of[item] = static_cast<int64_t>(out.ordinals.size());
    out.ordinals.push_back(item);
  }
  if (out.ordinals.size() < 2 || out.pairs == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("too little to train a retriever on: ", interactions.user_count(), " users, ",
                     out.ordinals.size(), " items and ", out.pairs, " successive pairs of events after ",
                     held_out, " held out for each user. Import more events with a positive sign"));
  }
  out.rows.reserve(interactions.items.size());
  for (ItemOrdinal item : interactions.items) out.rows.push_back(row_of[item]);
  return out;
}

}  // namespace waymark
