#include "index/posting_cursor.h"

#include <algorithm>

#include "index/varint.h"

namespace waymark {

DocNumber PostingCursor::Advance(DocNumber doc) {
  if (block_ == SIZE_MAX || (doc_ != kNoDoc && reader_.block(block_).last_doc < doc)) {
    const size_t block = reader_.FindBlock(block_ == SIZE_MAX ? 0 : block_, doc);
    if (block == reader_.block_count()) return doc_ = kNoDoc;
    LoadBlock(block);
  }
  if (doc_ == kNoDoc) return kNoDoc;
  index_ = std::lower_bound(docs_.begin() + index_, docs_.end(), doc) - docs_.begin();
  return doc_ = docs_[index_];
}

void PostingCursor::LoadBlock(size_t block) {
  block_ = block;
  index_ = 0;
  const size_t size = reader_.size_of(block);
  DocNumber doc = block == 0 ? 0 : reader_.block(block - 1).last_doc;
  docs_.resize(size);
  begins_.resize(size + 1);
  entries_.clear();
  const uint8_t* p = segment_->doc_bytes() + reader_.block(block).doc_offset;
  for (size_t i = 0; i < size; ++i) {
    doc += ReadVarint(p);
    docs_[i] = doc;
    begins_[i] = static_cast<uint32_t>(entries_.size());
    uint32_t field = 0;
    for (uint32_t code = 1; code & 1;) {
      code = ReadVarint(p);
      field += code >> 2;
      entries_.push_back({field, code & 2 ? 1 : ReadVarint(p)});
    }
  }
  begins_[size] = static_cast<uint32_t>(entries_.size());
  doc_ = docs_[0];
  position_ = segment_->position_bytes() + reader_.block(block).position_offset;
  position_index_ = 0;
  loaded_index_ = SIZE_MAX;
}

void PostingCursor::LoadPositions() {
  uint64_t passed = 0;
  for (uint32_t i = begins_[position_index_]; i < begins_[index_]; ++i) passed += entries_[i].tf;
  SkipVarints(passed, position_);
  positions_.clear();
  position_begins_.clear();
  for (const Entry& entry : entries()) {
    position_begins_.push_back(static_cast<uint32_t>(positions_.size()));
    uint32_t position = 0;
    for (uint32_t i = 0; i < entry.tf; ++i) positions_.push_back(position += ReadVarint(position_));
  }
  position_begins_.push_back(static_cast<uint32_t>(positions_.size()));
  position_index_ = index_ + 1;
  loaded_index_ = index_;
}

absl::Span<const uint32_t> PostingCursor::Positions(size_t entry) {
  if (loaded_index_ != index_) LoadPositions();
  return absl::MakeConstSpan(positions_)
      .subspan(position_begins_[entry], position_begins_[entry + 1] - position_begins_[entry]);
}

}  // namespace waymark
