// Numbers of one width in bits, one after the other, least significant bit first. Any of them is read at
// once; 16 of them end at a byte, so that a vector of 16 is unpacked by one load, one permutation and one
// shift.
//
//   std::vector<uint8_t> bytes;
//   PackBits(values, 7, &bytes);
//   UnpackBits(bytes.data(), 7, values.size(), out);
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/types/span.h"

namespace waymark {

// Bytes that must be readable behind the end of whatever is unpacked.
inline constexpr size_t kUnpackSlack = 64;
// Numbers that may be written behind the end of `out`.
inline constexpr size_t kUnpackPadding = 16;

inline size_t PackedBytes(uint64_t count, unsigned bits) { return (count * bits + 7) / 8; }

// Appends. A value that does not fit is packed as all ones; bits: 0 to 32.
void PackBits(absl::Span<const uint32_t> values, unsigned bits, std::vector<uint8_t>* bytes);

// out: [count], with room for kUnpackPadding more.
void UnpackBits(const uint8_t* packed, unsigned bits, size_t count, uint32_t* out);

inline uint32_t UnpackOne(const uint8_t* packed, unsigned bits, uint64_t index) {
  uint64_t word;
  std::memcpy(&word, packed + (index * bits >> 3), sizeof(word));
  return static_cast<uint32_t>(word >> (index * bits & 7) & ((uint64_t{1} << bits) - 1));
}

}  // namespace waymark
