// Between compressed bitmaps and dense ones (least significant bit first), whole containers at a time.
//
// Both ways go through the portable form of a Roaring bitmap (github.com/RoaringBitmap/RoaringFormatSpec),
// which is a library's stable interface and nearly a copy of its memory. For catalog/ alone.
#pragma once
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "catalog/item_set_impl.h"

namespace waymark {

// `bits` bits; items beyond them are left out.
std::vector<uint8_t> ToDense(const Bitmap& items, uint32_t bits);
// words: bit i of word w is item 64 w + i.
Bitmap FromDense(absl::Span<const uint64_t> words);

}  // namespace waymark
