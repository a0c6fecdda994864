// Places of a feed that go to items drawn at random, with the chance of each: what nobody would have been
// shown is learnt about, and what another policy would have earned can be estimated from the log.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "catalog/item_set.h"

namespace waymark {

struct ExploredPlace {
  ItemOrdinal item = kNoItem;
  size_t ranked = kNotRanked;  // its index in the ranked list
  bool drawn = false;
  bool as_ranked = false;  // what would stand here, after the places before, were nothing drawn
  double propensity = 1;   // the chance of this item at this place, given the places before
  double random = 0;       // the same, were the place drawn for certain
  static constexpr size_t kNotRanked = ~size_t{0};
};

// Epsilon-greedy, place by place: with chance `share` an item of `pool` that no place before holds, each with
// the same chance; else the best of `ranked` that no place before holds. With n items of the pool left, an
// item's propensity is share/n for the draw, and 1 - share for being the best. A list as long as `ranked`.
// share: 0..1. seed: decides all coins.
std::vector<ExploredPlace> Explore(absl::Span<const ItemOrdinal> ranked, const ItemSet& pool, double share,
                                   uint64_t seed);

// The coins of a request.
uint64_t ExplorationSeed(std::string_view request_id);

}  // namespace waymark
