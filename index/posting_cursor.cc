#include "index/posting_cursor.h"

#include <algorithm>

namespace waymark {

size_t PostingCursor::Seek(DocNumber doc) {
  if (block_ < reader_.block_count() && reader_.last_doc(block_) < doc) {
    block_ = reader_.FindBlock(block_, doc);
    loaded_ = false;
  }
  return block_;
}

size_t PostingCursor::Prefetch(size_t from, DocNumber doc) const {
  const size_t block = reader_.FindBlock(from, doc);
  if (block < reader_.block_count() && block != from) reader_.Prefetch(block);
  return block;
}

DocNumber PostingCursor::AdvanceToBlock(DocNumber doc) {
  if (Seek(doc) == reader_.block_count()) return doc_ = kNoDoc;
  if (!loaded_) {
    docs_ = reader_.ReadDocuments(block_);
    loaded_ = true;
    loaded_last_ = docs_.back();
    index_ = 0;
    entries_index_ = SIZE_MAX;
    has_positions_ = false;
  }
  index_ = FindDocument(docs_.data(), index_, doc);
  return doc_ = docs_[index_];
}

absl::Span<const PostingCursor::Entry> PostingCursor::entries() {
  if (entries_index_ != index_) {
    entries_index_ = index_;
    entries_.clear();
    for (const auto& column : reader_.ReadFields()) {
      if (column.tf[index_] > 0) entries_.push_back({column.field, column.tf[index_]});
    }
  }
  return entries_;
}

float PostingCursor::Frequency(absl::Span<const float> weights) {
  float frequency = 0;
  for (const auto& column : reader_.ReadFields()) {
    frequency += weights[column.field] * static_cast<float>(column.tf[index_]);
  }
  return frequency;
}

void PostingCursor::OpenPositions() {
  has_positions_ = true;
  steps_index_ = SIZE_MAX;
  // GapsToDocuments() adds one for each posting, and each has at least one position.
  std::fill_n(position_ends_.begin(), docs_.size(), uint32_t{0} - 1);
  for (const auto& column : reader_.ReadFields()) {
    for (size_t i = 0; i < docs_.size(); ++i) position_ends_[i] += column.tf[i];
  }
  GapsToDocuments(position_ends_.data(), docs_.size(), 0);
  slices_ = ColumnSlices(reader_.positions(), position_ends_[docs_.size() - 1]);
}

// Of the current posting alone: searches ask for those of a few postings of a block.
void PostingCursor::ReadSteps() {
  if (!has_positions_) OpenPositions();
  steps_index_ = index_;
  const uint32_t begin = index_ == 0 ? 0 : position_ends_[index_ - 1], end = position_ends_[index_];
  const size_t room = ColumnSlices::Room(end - begin);
  if (steps_.size() < room) steps_.resize(2 * room);
  first_step_ = static_cast<uint32_t>(slices_.Read(begin, end, steps_.data()));
}

absl::Span<const uint32_t> PostingCursor::PositionsIn(uint32_t field) {
  if (!has_positions_ || steps_index_ != index_) ReadSteps();
  uint32_t at = first_step_;
  for (const auto& column : reader_.ReadFields()) {
    const uint32_t count = column.tf[index_];
    if (column.field != field) {
      at += count;
      continue;
    }
    if (positions_.size() < count) positions_.resize(2 * count);
    uint32_t position = 0;
    for (uint32_t i = 0; i < count; ++i) positions_[i] = position += steps_[at + i];
    return {positions_.data(), count};
  }
  return {};
}

}  // namespace waymark
