// What the attention of the ranker looks at besides the features: the newest events and the query's words.
// Made the same way for training lists and for requests.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "candidates/request_context.h"

namespace waymark {

inline constexpr size_t kRankerHistory = 20;     // newest events that candidates attend to
inline constexpr size_t kRankerQueryWords = 16;  // words of a query beyond these are not read
inline constexpr size_t kRankerCandidates = 2000;

struct RankerInput {
  std::vector<ItemOrdinal> history;  // newest first
  std::vector<EventTypeCode> types;  // of the same events
  std::vector<uint64_t> query;       // QueryWordHashes
};

RankerInput MakeRankerInput(const RequestContext& context);

// XXH3 of "query\0" and the case-folded word, for runs of letters and digits; at most `limit`, in order.
std::vector<uint64_t> QueryWordHashes(std::string_view query, size_t limit);

}  // namespace waymark
