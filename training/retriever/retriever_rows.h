// Which items a retriever knows, and which events it may learn from: the items that the training events name,
// in the order of their ordinals, and each event's row among them. No LibTorch here: shards are written from
// this too.
#pragma once
#include <vector>

#include "absl/status/statusor.h"
#include "recommend/interactions.h"

namespace waymark {

struct RetrieverRows {
  std::vector<ItemOrdinal> ordinals;  // [items]
  std::vector<int64_t> rows;          // [events]; -1: held out, and not among the training events
  std::vector<uint64_t> ends;         // [users]: training events of u are [starts[u], ends[u])
  size_t training_events = 0;
  size_t pairs = 0;  // events that follow another one
};

// The newest `held_out` events of each user are not trained on. FAILED_PRECONDITION when fewer than two items
// or no pair of events in a row are left to learn from.
absl::StatusOr<RetrieverRows> MakeRetrieverRows(const Interactions& interactions, size_t held_out);

}  // namespace waymark
