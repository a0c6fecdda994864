#include "index/posting_block.h"

#include <algorithm>

#include "index/varint.h"

namespace waymark {

size_t PostingBlockReader::FindBlock(size_t from, DocNumber doc) const {
  // Searches mostly move to the next block or one near it: doubling steps, then halving.
  size_t low = from, step = 1, high = from;
  while (high < blocks_ && last_doc(high) < doc) {
    low = high + 1;
    high += step;
    step *= 2;
  }
  high = std::min(high, blocks_);
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (last_doc(middle) < doc) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void PostingBlockReader::DecodeDocuments(size_t block) {
  block_ = block;
  size_ = size_of(block);
  has_frequencies_ = has_fields_ = false;
  frequency_bytes_ = ReadColumn(segment_->documents(first_ + block), size_, docs_.data());
  GapsToDocuments(docs_.data(), size_, block == 0 ? kNoDoc : last_doc(block - 1));
}

void PostingBlockReader::DecodeFrequencies(absl::Span<const float> weights) {
  has_frequencies_ = true;
  std::array<uint32_t, kPostingsPerBlock + kBlockPadding> column;
  const uint8_t* p = frequency_bytes_;
  if (segment_->fields().size() == 1) {
    ReadColumn(p, size_, column.data());
    const float weight = weights[0];
    for (size_t i = 0; i < size_; ++i)
      frequencies_[i] = weight * static_cast<float>(static_cast<int>(column[i]) + 1);
    return;
  }
  std::fill_n(frequencies_.begin(), size_, 0.0f);
  for (uint32_t fields = ReadVarint(p); fields > 0; --fields) {
    const float weight = weights[ReadVarint(p)];
    p = ReadColumn(p, size_, column.data());
    for (size_t i = 0; i < size_; ++i)
      frequencies_[i] += weight * static_cast<float>(static_cast<int>(column[i]));
  }
}

absl::Span<const PostingBlockReader::FieldColumn> PostingBlockReader::ReadFields() {
  if (!has_fields_) {
    has_fields_ = true;
    const uint8_t* p = frequency_bytes_;
    const bool one = segment_->fields().size() == 1;
    fields_used_ = one ? 1 : ReadVarint(p);
    if (fields_.size() < fields_used_) fields_.resize(fields_used_);
    for (size_t f = 0; f < fields_used_; ++f) {
      fields_[f].field = one ? 0 : ReadVarint(p);
      p = ReadColumn(p, size_, fields_[f].tf.data());
      if (!one) continue;
      for (size_t i = 0; i < size_; ++i) ++fields_[f].tf[i];
    }
  }
  return absl::MakeConstSpan(fields_).subspan(0, fields_used_);
}

}  // namespace waymark
