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

  PostingCursor(const CompiledSegment& segment, TermIndex term) : reader_(segment, term) {}

  // kNoDoc: behind the last posting. Before the first Advance() it has no meaning.
  DocNumber doc() const { return doc_; }
  // Moves to the first posting whose document is at least `doc`, never backwards.
  DocNumber Advance(DocNumber doc) {
    if (doc > loaded_last_ || !loaded_) return AdvanceToBlock(doc);
    index_ = FindDocument(docs_.data(), index_, doc);
    return doc_ = docs_.data()[index_];
  }
  // Moves to the block that Advance(doc) would read, which it answers, without reading it; block_count() when
  // there is none.
  size_t Seek(DocNumber doc);
  const PostingBlockReader& reader() const { return reader_; }

  // The fields of the current posting, ascending. Valid until the next Advance().
  absl::Span<const Entry> entries();
  // Positions in the field of entries()[entry], ascending. Valid until the next call of this or Advance().
  absl::Span<const uint32_t> Positions(size_t entry);

 private:
  DocNumber AdvanceToBlock(DocNumber doc);
  void LoadSteps();

  PostingBlockReader reader_;
  size_t block_ = 0;
  bool loaded_ = false;  // the block's documents
  DocNumber loaded_last_ = 0;
  absl::Span<const DocNumber> docs_;
  size_t index_ = 0;  // in the block
  DocNumber doc_ = 0;
  size_t entries_index_ = SIZE_MAX;  // whose entries are in entries_
  std::vector<Entry> entries_;
  bool has_steps_ = false;
  std::vector<uint32_t> steps_;  // the block's positions, each as its distance from the one before
  size_t step_posting_ = 0;      // whose positions begin at step_
  uint64_t step_ = 0;
  std::vector<uint32_t> positions_;
};

}  // namespace waymark
