// Stage 8: from scores to the list that is shown. Pure policy: a function of values.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "store/ids.h"

namespace waymark {

struct ArrangeItem {
  ItemOrdinal item = kNoItem;
  double score = 0;
  std::vector<uint64_t> categories;  // hashes, for diversity
};

// Maximal marginal relevance (Carbonell, Goldstein 1998) over categories, greedy from the best: the next item
// is the one with the largest (1 - diversity) * r - diversity * s, where r is the score scaled to 0..1 within
// the list and s the largest Jaccard overlap of categories with the items chosen so far. Answers the new
// order as indexes into `items`, which come best first. `depth`: only the first so many are re-ordered, the
// rest follows as it was.
std::vector<size_t> Diversify(absl::Span<const ArrangeItem> items, double diversity, size_t depth);

// A list with some of its items put at given places.
struct PinnedOrder {
  std::vector<size_t> order;     // indexes into the list
  std::vector<uint32_t> pinned;  // places of `order` that hold a pin, in order
};
// order: the list; pins: indexes that it holds, with the places (from 0) that they are wanted at. Of pins for
// one place the first has it, the others the next that are free. Where the list is too short, pins come at
// its end.
struct Pin {
  size_t index = 0, place = 0;
};
PinnedOrder PutPins(absl::Span<const size_t> order, absl::Span<const Pin> pins);

// score * factor. In a list with scores below 0 they are counted from the least of them, so that a factor
// over 1 always moves up. factors: [scores].
std::vector<double> BoostedScores(absl::Span<const double> scores, absl::Span<const double> factors);

// The length of the page that follows `next` in a list of `size` items, given which items may be shown now:
// indexes of at most `page_size` visible ones, and where the page after it starts (`size`: nowhere).
struct Page {
  std::vector<size_t> indexes;
  size_t next = 0;
};
Page TakePage(size_t size, size_t next, size_t page_size, const std::function<bool(size_t)>& visible);

}  // namespace waymark
