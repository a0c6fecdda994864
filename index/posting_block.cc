#include "index/posting_block.h"

#include <algorithm>

#include "index/varint.h"

namespace waymark {

size_t PostingBlockReader::FindBlock(size_t from, DocNumber doc) const {
  // Searches mostly move to the next block or one near it: doubling steps, then halving.
  size_t low = from, step = 1, high = from;
  while (high < blocks_.size() && blocks_[high].last_doc < doc) {
    low = high + 1;
    high += step;
    step *= 2;
  }
  high = std::min(high, blocks_.size());
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (blocks_[middle].last_doc < doc) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

absl::Span<const DocNumber> PostingBlockReader::ReadDocuments(size_t block) {
  DocNumber doc;
  const uint8_t* p = Start(block, &doc);
  const size_t size = size_of(block);
  for (size_t i = 0; i < size; ++i) {
    doc += ReadVarint(p);
    docs_[i] = doc;
    for (uint32_t code = 1; code & 1;) {
      code = ReadVarint(p);
      if (!(code & 2)) SkipVarints(1, p);
    }
  }
  return {docs_.data(), size};
}

absl::Span<const DocNumber> PostingBlockReader::ReadFrequencies(size_t block,
                                                                absl::Span<const float> weights) {
  DocNumber doc;
  const uint8_t* p = Start(block, &doc);
  const size_t size = size_of(block);
  for (size_t i = 0; i < size; ++i) {
    doc += ReadVarint(p);
    docs_[i] = doc;
    float frequency = 0;
    uint32_t field = 0;
    for (uint32_t code = 1; code & 1;) {
      code = ReadVarint(p);
      field += code >> 2;
      frequency += weights[field] * (code & 2 ? 1.0f : static_cast<float>(ReadVarint(p)));
    }
    frequencies_[i] = frequency;
  }
  return {docs_.data(), size};
}

}  // namespace waymark
