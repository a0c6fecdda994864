#include "pipeline/exploration.h"

#include <cmath>
#include <map>

#include "tests/support/catch.h"

namespace waymark {
namespace {

std::vector<ItemOrdinal> ItemsOf(const std::vector<ExploredPlace>& places) {
  std::vector<ItemOrdinal> items;
  for (const ExploredPlace& place : places) items.push_back(place.item);
  return items;
}

TEST_CASE("without a share, or without a pool, all stand as they are ranked") {
  const std::vector<ItemOrdinal> ranked = {5, 3, 9};
  for (const auto& [pool, share] : {std::pair<std::vector<ItemOrdinal>, double>{{1, 3, 5}, 0}, {{}, 1}}) {
    const auto places = Explore(ranked, ItemSet::Of(pool), share, 7);
    CHECK(ItemsOf(places) == ranked);
    for (size_t p = 0; p < 3; ++p) {
      CHECK(places[p].ranked == p);
      CHECK(places[p].propensity == 1);
      CHECK(places[p].as_ranked);
      CHECK_FALSE(places[p].drawn);
    }
  }
}

TEST_CASE("with a share of one, places are drawn from what is left") {
  std::map<ItemOrdinal, int> first;
  for (uint64_t seed = 0; seed < 8000; ++seed) {
    const auto places = Explore(std::vector<ItemOrdinal>{1, 2, 3, 4}, ItemSet::Of({1, 2, 3, 4}), 1, seed);
    std::vector<ItemOrdinal> items = ItemsOf(places);
    ++first[items[0]];
    for (size_t p = 0; p < 4; ++p) {
      CHECK(places[p].drawn);
      CHECK(places[p].propensity == Approx(1. / (4 - static_cast<double>(p))));
    }
    std::sort(items.begin(), items.end());
    REQUIRE(items == std::vector<ItemOrdinal>{1, 2, 3, 4});
  }
  for (const auto& [item, times] : first) CHECK(std::abs(times - 2000) < 5 * std::sqrt(8000 * .25 * .75));
}

// Item 8 is ranked and may not be drawn. Of the pool 1, 3, 5, 7 two are ranked.
TEST_CASE("the chance of a whole list is the product of its propensities") {
  const std::vector<ItemOrdinal> ranked = {5, 8, 3};
  const ItemSet pool = ItemSet::Of({1, 3, 5, 7});
  constexpr int kLists = 200000;
  std::map<std::vector<ItemOrdinal>, std::pair<double, int>> lists;  // chance, times
  for (uint64_t seed = 0; seed < kLists; ++seed) {
    const auto places = Explore(ranked, pool, .4, seed);
    double chance = 1;
    for (const ExploredPlace& place : places) {
      chance *= place.propensity;
      CHECK(place.ranked == (place.item == 5   ? 0
                             : place.item == 8 ? 1
                             : place.item == 3 ? 2
                                               : ExploredPlace::kNotRanked));
    }
    auto& [known, times] = lists[ItemsOf(places)];
    if (times++ > 0) REQUIRE(known == chance);
    known = chance;
  }
  double all = 0;
  for (const auto& [list, seen] : lists) {
    all += seen.first;
    const double expected = kLists * seen.first;
    CHECK(std::abs(seen.second - expected) < 5 * std::sqrt(expected * (1 - seen.first)));
  }
  CHECK(all == Approx(1));
  // By hand: .6 + .4/4 for the best; then the second is not in the pool: .6; then .6 + .4/3 for the third.
  CHECK(lists[ranked].first == Approx(.7 * .6 * (.6 + .4 / 3)));
  // .4/4, then .4/3, then the best that is left: .6 + .4/2.
  CHECK((lists[{1, 7, 5}].first) == Approx(.1 * (.4 / 3) * .8));
}

TEST_CASE("what policies earn is estimated without bias from explored places") {
  // Items earn 0.1, 0.2, ... at the first place; the list is ranked 3, 1, 2.
  const std::vector<ItemOrdinal> ranked = {3, 1, 2};
  const ItemSet pool = ItemSet::Of({1, 2, 3, 4, 5});
  double as_ranked = 0, random = 0;
  constexpr int kLists = 100000;
  for (uint64_t seed = 0; seed < kLists; ++seed) {
    const ExploredPlace place = Explore(ranked, pool, .25, seed)[0];
    const double earned = .1 * place.item;
    as_ranked += earned * (place.as_ranked ? 1 : 0) / place.propensity;
    random += earned * place.random / place.propensity;
  }
  CHECK(as_ranked / kLists == Approx(.3).margin(.002));
  CHECK(random / kLists == Approx(.3).margin(.01));  // the mean of .1 to .5
}

TEST_CASE("coins follow from the request alone") {
  // FNV-1a of 64 bits, as its authors publish it.
  CHECK(ExplorationSeed("") == 0xcbf29ce484222325u);
  CHECK(ExplorationSeed("a") == 0xaf63dc4c8601ec8cu);
  CHECK(ExplorationSeed("foobar") == 0x85944171f73967e8u);
}

}  // namespace
}  // namespace waymark
