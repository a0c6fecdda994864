// Variable-length numbers of the compiled postings: seven bits a byte, least significant first, the high bit
// says that another byte follows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace waymark {

inline void AppendVarint(uint32_t value, std::vector<uint8_t>* bytes) {
  while (value >= 0x80) {
    bytes->push_back(static_cast<uint8_t>(value | 0x80));
    value >>= 7;
  }
  bytes->push_back(static_cast<uint8_t>(value));
}

// Of 64 bits.
inline constexpr size_t kLongestVarint = 10;

// Answers where it ends; `out` has room for kLongestVarint.
inline uint8_t* WriteVarint(uint64_t value, uint8_t* out) {
  for (; value >= 0x80; value >>= 7) *out++ = static_cast<uint8_t>(value | 0x80);
  *out++ = static_cast<uint8_t>(value);
  return out;
}

// Reads at most kLongestVarint bytes, of which all must be readable.
inline uint64_t ReadLongVarint(const uint8_t*& p) {
  uint64_t value = *p++;
  if (value < 0x80) return value;
  value &= 0x7F;
  for (unsigned shift = 7; shift < 7 * kLongestVarint; shift += 7) {
    const uint64_t byte = *p++;
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) break;
  }
  return value;
}

// Only for bytes that were checked: it does not look where they end.
inline uint32_t ReadVarint(const uint8_t*& p) {
  uint32_t value = *p++;
  if (value < 0x80) return value;
  value &= 0x7F;
  for (int shift = 7;; shift += 7) {
    const uint32_t byte = *p++;
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
}

// For bytes of any kind. False: it runs over `end`, or is longer than a number of 32 bits takes.
inline bool CheckVarint(const uint8_t*& p, const uint8_t* end, uint32_t* value) {
  *value = 0;
  for (int shift = 0; shift < 35 && p < end; shift += 7) {
    const uint32_t byte = *p++;
    *value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

}  // namespace waymark
