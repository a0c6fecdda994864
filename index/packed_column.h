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

// Whether reading the column stays within `end` and `count`: where it ends, or null.
const uint8_t* CheckColumn(const uint8_t* column, const uint8_t* end, uint64_t count);

}  // namespace waymark
