#include "catalog/dense_bitmap.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace waymark {
namespace {

static_assert(std::endian::native == std::endian::little, "dense bitmaps are copied as bytes");

// The bytes that are read are our own, just made, so they are not checked.
constexpr uint32_t kCookieWithRuns = 12347, kCookieWithoutRuns = 12346;
constexpr uint32_t kSmallestWithOffsets = 4;
constexpr uint32_t kArrayLimit = 4096;
constexpr size_t kBitsetBytes = 8192, kContainerWords = 1024;

template <typename T>
T Take(const char** at) {
  T value;
  std::memcpy(&value, *at, sizeof(T));
  *at += sizeof(T);
  return value;
}

void SetBit(uint32_t bit, std::vector<uint8_t>* out) {
  if (bit < out->size() * 8) (*out)[bit / 8] |= static_cast<uint8_t>(1u << (bit % 8));
}

void SetRange(uint32_t first, uint64_t last, std::vector<uint8_t>* out) {
  if (out->empty() || first >= out->size() * 8) return;
  last = std::min<uint64_t>(last, out->size() * 8 - 1);
  uint64_t bit = first;
  for (; bit <= last && bit % 8 != 0; ++bit) SetBit(static_cast<uint32_t>(bit), out);
  if (bit + 8 <= last + 1) {
    const size_t bytes = (last + 1 - bit) / 8;
    std::memset(out->data() + bit / 8, 0xFF, bytes);
    bit += bytes * 8;
  }
  for (; bit <= last; ++bit) SetBit(static_cast<uint32_t>(bit), out);
}

void CopyBits(uint32_t base, const char* bits, std::vector<uint8_t>* out) {
  const size_t from = base / 8;
  if (from < out->size()) std::memcpy(out->data() + from, bits, std::min(kBitsetBytes, out->size() - from));
}

template <typename T>
void Append(T value, std::vector<char>* out) {
  const size_t at = out->size();
  out->resize(at + sizeof(T));
  std::memcpy(out->data() + at, &value, sizeof(T));
}

void AppendContainer(absl::Span<const uint64_t> words, size_t count, std::vector<char>* out) {
  if (count > kArrayLimit) {
    const size_t at = out->size(), bytes = words.size() * sizeof(uint64_t);
    out->resize(at + kBitsetBytes, 0);
    std::memcpy(out->data() + at, words.data(), bytes);
    return;
  }
  for (size_t w = 0; w < words.size(); ++w) {
    for (uint64_t left = words[w]; left != 0; left &= left - 1) {
      Append(static_cast<uint16_t>(w * 64 + static_cast<size_t>(std::countr_zero(left))), out);
    }
  }
}

}  // namespace

std::vector<uint8_t> ToDense(const Bitmap& items, uint32_t bits) {
  std::vector<uint8_t> out((static_cast<size_t>(bits) + 7) / 8, 0);
  if (out.empty() || items.isEmpty()) return out;
  std::vector<char> portable(items.getSizeInBytes());
  items.write(portable.data());

  const char* at = portable.data();
  const uint32_t cookie = Take<uint32_t>(&at);
  const bool runs = (cookie & 0xFFFF) == kCookieWithRuns;
  const uint32_t containers = runs ? (cookie >> 16) + 1 : Take<uint32_t>(&at);
  const char* run_flags = at;
  if (runs) at += (containers + 7) / 8;
  const char* keys = at;
  at += 4 * static_cast<size_t>(containers);
  if (!runs || containers >= kSmallestWithOffsets) at += 4 * static_cast<size_t>(containers);
  for (uint32_t c = 0; c < containers; ++c) {
    const uint32_t base = static_cast<uint32_t>(Take<uint16_t>(&keys)) << 16;
    const uint32_t count = Take<uint16_t>(&keys) + 1u;
    if (runs && (run_flags[c / 8] >> (c % 8) & 1) != 0) {
      for (uint16_t left = Take<uint16_t>(&at); left > 0; --left) {
        const uint32_t first = base + Take<uint16_t>(&at);
        SetRange(first, uint64_t{first} + Take<uint16_t>(&at), &out);
      }
    } else if (count > kArrayLimit) {
      CopyBits(base, at, &out);
      at += kBitsetBytes;
    } else {
      for (uint32_t i = 0; i < count; ++i) SetBit(base + Take<uint16_t>(&at), &out);
    }
  }
  // The last byte may reach beyond `bits`.
  if (bits % 8 != 0) out.back() &= static_cast<uint8_t>((1u << (bits % 8)) - 1);
  return out;
}

Bitmap FromDense(absl::Span<const uint64_t> words) {
  std::vector<char> keys, offsets, containers;
  uint32_t count = 0;
  for (size_t first = 0; first < words.size(); first += kContainerWords) {
    const auto container = words.subspan(first, kContainerWords);
    size_t items = 0;
    for (const uint64_t word : container) items += static_cast<size_t>(std::popcount(word));
    if (items == 0) continue;
    ++count;
    Append(static_cast<uint16_t>(first / kContainerWords), &keys);
    Append(static_cast<uint16_t>(items - 1), &keys);
    Append(static_cast<uint32_t>(containers.size()), &offsets);
    AppendContainer(container, items, &containers);
  }
  if (count == 0) return Bitmap();
  std::vector<char> portable;
  Append(kCookieWithoutRuns, &portable);
  Append(count, &portable);
  portable.insert(portable.end(), keys.begin(), keys.end());
  const auto start = static_cast<uint32_t>(portable.size() + offsets.size());
  for (size_t i = 0; i < offsets.size(); i += sizeof(uint32_t)) {
    uint32_t offset = 0;
    std::memcpy(&offset, offsets.data() + i, sizeof(offset));
    Append(offset + start, &portable);
  }
  portable.insert(portable.end(), containers.begin(), containers.end());
  return Bitmap::readSafe(portable.data(), portable.size());
}

}  // namespace waymark
