#include "index/bit_packing.h"

#include <algorithm>
#include <array>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace waymark {
namespace {

// Wider numbers may lie across five bytes, which no lane of 32 bits holds.
constexpr unsigned kWidestLane = 25;

#if defined(__AVX512VBMI__)

struct alignas(64) Permutations {
  std::array<std::array<uint8_t, 64>, kWidestLane + 1> bytes{};    // [bits, byte of the vector]
  std::array<std::array<uint32_t, 16>, kWidestLane + 1> shifts{};  // [bits, lane]
};
constexpr Permutations MakePermutations() {
  Permutations p;
  for (unsigned bits = 0; bits <= kWidestLane; ++bits) {
    for (unsigned lane = 0; lane < 16; ++lane) {
      p.shifts[bits][lane] = lane * bits & 7;
      for (unsigned k = 0; k < 4; ++k) {
        p.bytes[bits][lane * 4 + k] = static_cast<uint8_t>((lane * bits >> 3) + k);
      }
    }
  }
  return p;
}
constexpr Permutations kPermutations = MakePermutations();

void UnpackLanes(const uint8_t* packed, unsigned bits, size_t count, uint32_t* out) {
  const __m512i order = _mm512_load_si512(kPermutations.bytes[bits].data());
  const __m512i shifts = _mm512_load_si512(kPermutations.shifts[bits].data());
  const __m512i mask = _mm512_set1_epi32((1 << bits) - 1);
  for (size_t i = 0; i < count; i += 16, packed += 2 * bits) {
    const __m512i lanes = _mm512_permutexvar_epi8(order, _mm512_loadu_si512(packed));
    _mm512_storeu_si512(out + i, _mm512_and_si512(_mm512_srlv_epi32(lanes, shifts), mask));
  }
}

#elif defined(__AVX2__)

struct alignas(32) Permutations {
  std::array<std::array<uint8_t, 32>, kWidestLane + 1> bytes{};   // [bits, byte of the vector]
  std::array<std::array<uint32_t, 8>, kWidestLane + 1> shifts{};  // [bits, lane]
};
constexpr Permutations MakePermutations() {
  Permutations p;
  for (unsigned bits = 0; bits <= kWidestLane; ++bits) {
    for (unsigned lane = 0; lane < 8; ++lane) {
      // The upper four lanes are loaded from where their first number begins.
      const unsigned base = lane < 4 ? 0 : 4 * bits >> 3;
      p.shifts[bits][lane] = lane * bits & 7;
      for (unsigned k = 0; k < 4; ++k) {
        p.bytes[bits][lane * 4 + k] = static_cast<uint8_t>((lane * bits >> 3) - base + k);
      }
    }
  }
  return p;
}
constexpr Permutations kPermutations = MakePermutations();

void UnpackLanes(const uint8_t* packed, unsigned bits, size_t count, uint32_t* out) {
  const auto load = [](const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); };
  const __m256i order = _mm256_load_si256(reinterpret_cast<const __m256i*>(kPermutations.bytes[bits].data()));
  const __m256i shifts =
      _mm256_load_si256(reinterpret_cast<const __m256i*>(kPermutations.shifts[bits].data()));
  const __m256i mask = _mm256_set1_epi32((1 << bits) - 1);
  const size_t upper = 4 * bits >> 3;
  for (size_t i = 0; i < count; i += 8, packed += bits) {
    const __m256i bytes =
        _mm256_inserti128_si256(_mm256_castsi128_si256(load(packed)), load(packed + upper), 1);
    const __m256i lanes = _mm256_shuffle_epi8(bytes, order);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                        _mm256_and_si256(_mm256_srlv_epi32(lanes, shifts), mask));
  }
}

#else

void UnpackLanes(const uint8_t* packed, unsigned bits, size_t count, uint32_t* out) {
  for (size_t i = 0; i < count; ++i) out[i] = UnpackOne(packed, bits, i);
}

#endif

}  // namespace

void PackBits(absl::Span<const uint32_t> values, unsigned bits, std::vector<uint8_t>* bytes) {
  const auto ones = static_cast<uint32_t>((uint64_t{1} << bits) - 1);
  const size_t begin = bytes->size(), size = PackedBytes(values.size(), bits);
  bytes->resize(begin + size + sizeof(uint64_t));
  uint8_t* out = bytes->data() + begin;
  uint64_t word = 0;
  unsigned filled = 0;
  for (uint32_t value : values) {
    word |= uint64_t{std::min(value, ones)} << filled;
    filled += bits;
    if (filled < 32) continue;
    std::memcpy(out, &word, sizeof(uint32_t));
    out += sizeof(uint32_t);
    word >>= 32;
    filled -= 32;
  }
  std::memcpy(out, &word, sizeof(word));
  bytes->resize(begin + size);
}

void UnpackBits(const uint8_t* packed, unsigned bits, size_t count, uint32_t* out) {
  if (bits <= kWidestLane) return UnpackLanes(packed, bits, count, out);
  for (size_t i = 0; i < count; ++i) out[i] = UnpackOne(packed, bits, i);
}

}  // namespace waymark
