// Randomness without state: a value is a hash of (key, index), so a mask needs no memory, a step can be
// replayed, and the order of threads changes nothing.
//
//   uint64_t key = RandomKey(seed, {epoch, step, kDropoutOfInputs});
//   bool keep = RandomBits(key, i) >= threshold;
//
// The mixers are Stafford's variant 13 of the MurmurHash3 finaliser (64 bits) and Wellons' lowbias32.
#pragma once
#include <cstdint>
#include <initializer_list>

namespace waymark {

inline uint64_t MixBits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

inline uint64_t RandomKey(uint64_t seed, std::initializer_list<uint64_t> purpose) {
  uint64_t key = MixBits(seed + 0x9e3779b97f4a7c15ull);
  for (uint64_t part : purpose) key = MixBits(key ^ (part + 0x9e3779b97f4a7c15ull));
  return key;
}

inline uint64_t RandomBits64(uint64_t key, uint64_t index) {
  return MixBits(key + (index + 1) * 0x9e3779b97f4a7c15ull);
}

// Uniform in [0, bound). Lemire's multiplication; the bias of bound / 2^64 doesn't matter here.
inline uint64_t RandomBelow(uint64_t key, uint64_t index, uint64_t bound) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(RandomBits64(key, index)) * bound) >> 64);
}

inline double RandomUnit(uint64_t key, uint64_t index) {
  return static_cast<double>(RandomBits64(key, index) >> 11) * 0x1.0p-53;
}

inline constexpr uint32_t kIndexStep = 0x9e3779b9u;
// 32 bits at a time for masks: cheap enough to compute twice, and a loop over it vectorises.
inline uint32_t RandomBits(uint32_t key, uint32_t index) {
  uint32_t x = index * kIndexStep + key;
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

// Keeps a share of 1 - rate of the values and scales those by 1 / (1 - rate). Rate 0: does nothing.
struct DropoutMask {
  uint32_t key = 0;
  uint32_t threshold = 0;  // dropped when the bits are below
  float scale = 1;

  static DropoutMask Make(double rate, uint64_t key64) {
    if (rate <= 0) return {};
    return {static_cast<uint32_t>(key64 ^ (key64 >> 32)), static_cast<uint32_t>(rate * 4294967296.0),
            static_cast<float>(1 / (1 - rate))};
  }
  // The mask of the values first, first + 1, ...
  DropoutMask From(uint64_t first) const {
    return {key + static_cast<uint32_t>(first) * kIndexStep, threshold, scale};
  }
  float Factor(uint32_t index) const { return RandomBits(key, index) < threshold ? 0.0f : scale; }
};

}  // namespace waymark
