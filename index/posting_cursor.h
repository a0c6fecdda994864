// Walks one term's postings document by document, with the fields that hold the term and its positions: for
// phrases and for the signals of given items.
//
//   PostingCursor cursor(segment, term);
//   while (cursor.Advance(wanted) != kNoDoc) { cursor.entries(); cursor.Positions(0); ... }
//
// Not thread-safe: a cursor belongs to one search.
#pragma once
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "index/posting_block.h"

namespace waymark {

class PostingCursor {
 public:
  struct Entry {
    uint32_t field, tf;
  };

  PostingCursor(const CompiledSegment& segment, TermIndex term)
      : segment_(&segment), reader_(segment, term) {}

  // kNoDoc: behind the last posting. Before the first Advance() it has no meaning.
  DocNumber doc() const { return doc_; }
  // Moves to the first posting whose document is at least `doc`, never backwards.
  DocNumber Advance(DocNumber doc);
  // The fields of the current posting, ascending.
  absl::Span<const Entry> entries() const {
    return absl::MakeConstSpan(entries_).subspan(begins_[index_], begins_[index_ + 1] - begins_[index_]);
  }
  // Positions in the field of entries()[entry], ascending. Valid until the next call of this or Advance().
  absl::Span<const uint32_t> Positions(size_t entry);

 private:
  void LoadBlock(size_t block);
  void LoadPositions();

  const CompiledSegment* segment_;
  PostingBlockReader reader_;
  size_t block_ = SIZE_MAX;
  size_t index_ = 0;  // in the block
  DocNumber doc_ = 0;
  std::vector<DocNumber> docs_;
  std::vector<Entry> entries_;    // of the block
  std::vector<uint32_t> begins_;  // [docs + 1], into entries_
  // The position stream stands before the posting `position_index_` of the block.
  const uint8_t* position_ = nullptr;
  size_t position_index_ = 0;
  size_t loaded_index_ = SIZE_MAX;
  std::vector<uint32_t> positions_;        // of the posting loaded_index_, entry after entry
  std::vector<uint32_t> position_begins_;  // [entries + 1]
};

}  // namespace waymark
