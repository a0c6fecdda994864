// An item with a score: of a source's list, or of what a query matches.
#pragma once
#include "store/ids.h"

namespace waymark {

struct ScoredItem {
  ItemOrdinal item = kNoItem;
  float score = 0;
  bool operator==(const ScoredItem&) const = default;
};

}  // namespace waymark
