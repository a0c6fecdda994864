// Numbers packed to the width that costs least, with the few that are wider kept apart (as in PForDelta;
// Zukowski et al., ICDE 2006):
//
//   byte: width in bits, + 128 when some are kept apart;  the numbers at that width (index/bit_packing.h)
//   then, when some are:  varint(how many), and for each varint(its index - that of the one before),
//   varint(number - (2^width - 1)).  In the packed numbers, each of them stands as all ones (which are a
//   number like others where none is kept apart).
//
//   AppendColumn(values, &bytes);
//   const uint8_t* end = ReadColumn(bytes.data(), values.size(), out);
#pragma once
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "index/bit_packing.h"

namespace waymark {

void AppendColumn(absl::Span<const uint32_t> values, std::vector<uint8_t>* bytes);

// Answers where the column ends.  out: [count], with room for kUnpackPadding more.
const uint8_t* ReadColumn(const uint8_t* column, size_t count, uint32_t* out);

// One number of a column.
uint32_t ReadColumnAt(const uint8_t* column, uint64_t count, uint64_t index);

// Reads runs of a column's numbers without the rest of it. No run begins before the one before ended.
//
//   ColumnSlices slices(column, count);
//   std::vector<uint32_t> out(ColumnSlices::Room(20));
//   const size_t first = slices.Read(100, 120, out.data());  // out[first] is the column's number 100
//   slices.Read(300, 310, out.data());
//
// Not thread-safe.
class ColumnSlices {
 public:
  ColumnSlices() = default;
  ColumnSlices(const uint8_t* column, uint64_t count);

  // What `out` must have room for.
  static size_t Room(size_t numbers) { return numbers + 2 * kUnpackPadding; }
  // Writes the numbers [begin, end) from out[the answer] on.
  size_t Read(uint64_t begin, uint64_t end, uint32_t* out);

 private:
  void NextApart();

  const uint8_t* packed_ = nullptr;
  unsigned bits_ = 0;
  // Those kept apart that no run has come to yet.
  const uint8_t* apart_ = nullptr;
  uint32_t apart_left_ = 0;
  uint64_t apart_index_ = 0;  // of the next; past every number when there is none
  uint32_t apart_value_ = 0;
};

// Whether reading the column stays within `end` and `count`: where it ends, or null.
const uint8_t* CheckColumn(const uint8_t* column, const uint8_t* end, uint64_t count);

}  // namespace waymark
