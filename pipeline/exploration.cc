#include "pipeline/exploration.h"

#include <algorithm>
#include <random>

#include "absl/container/flat_hash_set.h"

namespace waymark {
namespace {

// Numbers that follow from a seed, on every machine the same.
class Coins {
 public:
  explicit Coins(uint64_t seed) : bits_(seed) {}
  double Uniform() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
  uint64_t Below(uint64_t bound) { return static_cast<uint64_t>(Uniform() * static_cast<double>(bound)); }

 private:
  std::mt19937_64 bits_;
};

}  // namespace

std::vector<ExploredPlace> Explore(absl::Span<const ItemOrdinal> ranked, const ItemSet& pool, double share,
                                   uint64_t seed) {
  Coins coins(seed);
  absl::flat_hash_set<ItemOrdinal> placed;
  const uint64_t pool_size = pool.Size();
  uint64_t left = pool_size;  // items of the pool that no place holds
  size_t best = 0;            // of the ranked ones that no place holds
  std::vector<ExploredPlace> places;
  while (places.size() < ranked.size()) {
    while (placed.contains(ranked[best])) ++best;
    const double explored = left == 0 ? 0 : share;
    ExploredPlace place;
    place.item = ranked[best];
    place.drawn = coins.Uniform() < explored;
    if (place.drawn) {
      do {
        place.item = pool.At(coins.Below(pool_size));
      } while (placed.contains(place.item));
    }
    place.as_ranked = place.item == ranked[best];
    const auto found = std::find(ranked.begin() + static_cast<ptrdiff_t>(best), ranked.end(), place.item);
    if (found != ranked.end()) place.ranked = static_cast<size_t>(found - ranked.begin());
    place.propensity = place.as_ranked ? 1 - explored : 0;
    if (pool.Contains(place.item)) {
      place.random = 1 / static_cast<double>(left);
      place.propensity += explored * place.random;
      --left;
    }
    placed.insert(place.item);
    places.push_back(place);
  }
  return places;
}

// FNV-1a, 64 bits (Fowler, Noll, Vo).
uint64_t ExplorationSeed(std::string_view request_id) {
  uint64_t seed = 0xcbf29ce484222325u;
  for (const char c : request_id) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return seed;
}

}  // namespace waymark
