#include "index/posting_cursor.h"

#include <numeric>

namespace waymark {

size_t PostingCursor::Seek(DocNumber doc) {
  if (block_ < reader_.block_count() && reader_.last_doc(block_) < doc) {
    block_ = reader_.FindBlock(block_, doc);
    loaded_ = false;
  }
  return block_;
}

DocNumber PostingCursor::AdvanceToBlock(DocNumber doc) {
  if (Seek(doc) == reader_.block_count()) return doc_ = kNoDoc;
  if (!loaded_) {
    docs_ = reader_.ReadDocuments(block_);
    loaded_ = true;
    loaded_last_ = docs_.back();
    index_ = 0;
    entries_index_ = SIZE_MAX;
    has_steps_ = false;
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

void PostingCursor::LoadSteps() {
  has_steps_ = true;
  step_posting_ = 0;
  step_ = 0;
  uint64_t count = 0;
  for (const auto& column : reader_.ReadFields()) {
    count += std::accumulate(column.tf.begin(), column.tf.begin() + docs_.size(), uint32_t{0});
  }
  if (steps_.size() < count + kUnpackPadding) steps_.resize(2 * count + kUnpackPadding);
  ReadColumn(reader_.positions(), count, steps_.data());
}

absl::Span<const uint32_t> PostingCursor::Positions(size_t entry) {
  if (!has_steps_) LoadSteps();
  if (step_posting_ < index_) {
    for (const auto& column : reader_.ReadFields()) {
      for (size_t i = step_posting_; i < index_; ++i) step_ += column.tf[i];
    }
    step_posting_ = index_;
  }
  const auto all = entries();
  uint64_t at = step_;
  for (size_t e = 0; e < entry; ++e) at += all[e].tf;
  const uint32_t count = all[entry].tf;
  if (positions_.size() < count) positions_.resize(2 * count);
  uint32_t position = 0;
  for (uint32_t i = 0; i < count; ++i) positions_[i] = position += steps_[at + i];
  return {positions_.data(), count};
}

}  // namespace waymark
