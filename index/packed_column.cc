#include "index/packed_column.h"

#include <algorithm>
#include <array>
#include <bit>

#include "index/varint.h"

namespace waymark {
namespace {

constexpr uint8_t kSomeApart = 128;

uint32_t LowBits(unsigned bits) { return static_cast<uint32_t>((uint64_t{1} << bits) - 1); }

struct ColumnWidth {
  unsigned bits;
  size_t apart;  // numbers that are kept apart
};

// The width that takes the fewest bytes, those kept apart counted with what they cost to read.
ColumnWidth BestWidth(absl::Span<const uint32_t> values) {
  std::array<uint32_t, 34> first_below{};  // [bits]: numbers that are below all ones from this width on
  uint32_t all = 0;
  for (uint32_t value : values) {
    ++first_below[value == 0 ? 0 : std::bit_width(uint64_t{value} + 1)];
    all |= value;
  }
  const auto widest = static_cast<unsigned>(std::bit_width(all));
  ColumnWidth best{widest, 0};
  size_t best_bytes = PackedBytes(values.size(), widest), apart = first_below[widest + 1];
  for (unsigned bits = widest; bits-- > 0;) {
    apart += first_below[bits + 1];
    const size_t bytes = PackedBytes(values.size(), bits) + 1 + apart * (2 + widest / 8);
    if (bytes < best_bytes) best = {bits, apart}, best_bytes = bytes;
  }
  return best;
}

}  // namespace

void AppendColumn(absl::Span<const uint32_t> values, std::vector<uint8_t>* bytes) {
  const auto [bits, apart] = BestWidth(values);
  bytes->push_back(static_cast<uint8_t>(bits | (apart == 0 ? 0 : kSomeApart)));
  PackBits(values, bits, bytes);
  if (apart == 0) return;
  const uint32_t ones = LowBits(bits);
  AppendVarint(static_cast<uint32_t>(apart), bytes);
  for (uint32_t i = 0, previous = 0; i < values.size(); ++i) {
    if (values[i] < ones || values[i] == 0) continue;
    AppendVarint(i - previous, bytes);
    AppendVarint(values[i] - ones, bytes);
    previous = i;
  }
}

const uint8_t* ReadColumn(const uint8_t* column, size_t count, uint32_t* out) {
  const unsigned bits = *column & ~kSomeApart;
  const bool some_apart = *column & kSomeApart;
  UnpackBits(column + 1, bits, count, out);
  const uint8_t* p = column + 1 + PackedBytes(count, bits);
  if (!some_apart) return p;
  const uint32_t ones = LowBits(bits);
  uint32_t index = 0;
  for (uint32_t apart = ReadVarint(p); apart > 0; --apart) {
    index += ReadVarint(p);
    out[index] = ones + ReadVarint(p);
  }
  return p;
}

uint32_t ReadColumnAt(const uint8_t* column, uint64_t count, uint64_t index) {
  const unsigned bits = *column & ~kSomeApart;
  const uint32_t low = UnpackOne(column + 1, bits, index), ones = LowBits(bits);
  if (low != ones || !(*column & kSomeApart)) return low;
  const uint8_t* p = column + 1 + PackedBytes(count, bits);
  uint64_t at = 0;
  for (uint32_t apart = ReadVarint(p); apart > 0; --apart) {
    at += ReadVarint(p);
    const uint32_t more = ReadVarint(p);
    if (at == index) return ones + more;
    if (at > index) break;
  }
  return low;
}

ColumnSlices::ColumnSlices(const uint8_t* column, uint64_t count)
    : packed_(column + 1), bits_(*column & ~kSomeApart) {
  if (*column & kSomeApart) {
    apart_ = packed_ + PackedBytes(count, bits_);
    apart_left_ = ReadVarint(apart_);
  }
  NextApart();
}

void ColumnSlices::NextApart() {
  if (apart_left_ == 0) {
    apart_index_ = UINT64_MAX;
    return;
  }
  --apart_left_;
  apart_index_ += ReadVarint(apart_);
  apart_value_ = LowBits(bits_) + ReadVarint(apart_);
}

size_t ColumnSlices::Read(uint64_t begin, uint64_t end, uint32_t* out) {
  const uint64_t aligned = begin & ~uint64_t{15};  // 16 numbers end at a byte
  UnpackBits(packed_ + aligned / 8 * bits_, bits_, end - aligned, out);
  for (; apart_index_ < end; NextApart()) {
    if (apart_index_ >= begin) out[apart_index_ - aligned] = apart_value_;
  }
  return begin - aligned;
}

const uint8_t* CheckColumn(const uint8_t* column, const uint8_t* end, uint64_t count) {
  if (column >= end) return nullptr;
  const unsigned bits = *column & ~kSomeApart;
  if (bits > 32 || count > (uint64_t{1} << 40)) return nullptr;
  const uint64_t packed = PackedBytes(count, bits);
  if (packed > static_cast<uint64_t>(end - column - 1)) return nullptr;
  const uint8_t* p = column + 1 + packed;
  if (!(*column & kSomeApart)) return p;
  uint32_t apart, step, more;
  if (!CheckVarint(p, end, &apart)) return nullptr;
  uint64_t index = 0;
  for (; apart > 0; --apart) {
    if (!CheckVarint(p, end, &step) || !CheckVarint(p, end, &more)) return nullptr;
    index += step;
    if (index >= count) return nullptr;
  }
  return p;
}

}  // namespace waymark
