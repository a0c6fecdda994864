// Walks one term's postings document by document, with the fields that hold the term and its positions: for
// phrases and for the signals of given items.
//
//   PostingCursor cursor(segment, term);
//   while (cursor.Advance(wanted) != kNoDoc) { cursor.entries(); cursor.Positions(0); ... }
//
// Not thread-safe: a cursor belongs to one search.
#pragma once
#include <array>
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
  // The same, the sooner the nearer: for the list that leads a conjunction.
  DocNumber AdvanceNear(DocNumber doc) {
    const size_t next = index_ + 1;
    if (!loaded_ || next >= docs_.size() || docs_.data()[next] < doc || doc_ >= doc) return Advance(doc);
    index_ = next;
    return doc_ = docs_.data()[next];
  }
  // Moves to the block that Advance(doc) would read, which it answers, without reading it; block_count() when
  // there is none.
  size_t Seek(DocNumber doc);
  const PostingBlockReader& reader() const { return reader_; }
  // Has the bytes of the block that Advance(doc) would read, and its positions, brought near; `from`: a block
  // that is not behind it. Answers the block.
  size_t Prefetch(size_t from, DocNumber doc) const;
  // No document of the blocks before this one will be asked for.
  void SkipTo(size_t block) {
    if (block <= block_) return;
    block_ = block;
    loaded_ = false;
  }
  // Whether Advance(doc) decides without reading another block.
  bool HasRead(DocNumber doc) const { return loaded_ && doc <= loaded_last_; }

  // Of the block that was read last: which it is, its documents, the current posting's place in it, and each
  // document's frequency: sum over fields of weights[field] * tf.  weights: [fields of the segment]
  size_t block() const { return block_; }
  absl::Span<const DocNumber> block_documents() const { return docs_; }
  size_t place() const { return index_; }
  const float* BlockFrequencies(absl::Span<const float> weights) {
    reader_.ReadFrequencies(block_, weights);
    return reader_.frequencies();
  }

  // The fields of the current posting, ascending. Valid until the next Advance().
  absl::Span<const Entry> entries();
  // The current document's.
  float Frequency(absl::Span<const float> weights);
  // The fields in which documents of the block have it.
  absl::Span<const PostingBlockReader::FieldColumn> fields() { return reader_.ReadFields(); }
  // How often the current document has it in this field.
  uint32_t CountIn(uint32_t field) {
    for (const auto& column : reader_.ReadFields()) {
      if (column.field == field) return column.tf[index_];
    }
    return 0;
  }
  // Positions in the field, ascending; none where it is not in it. Valid until the next call of these or
  // Advance().
  absl::Span<const uint32_t> PositionsIn(uint32_t field);
  // In the field of entries()[entry].
  absl::Span<const uint32_t> Positions(size_t entry) { return PositionsIn(entries()[entry].field); }

 private:
  DocNumber AdvanceToBlock(DocNumber doc);
  void OpenPositions();
  void ReadSteps();

  PostingBlockReader reader_;
  size_t block_ = 0;
  bool loaded_ = false;  // the block's documents
  DocNumber loaded_last_ = 0;
  absl::Span<const DocNumber> docs_;
  size_t index_ = 0;  // in the block
  DocNumber doc_ = 0;
  size_t entries_index_ = SIZE_MAX;  // whose entries are in entries_
  std::vector<Entry> entries_;

  bool has_positions_ = false;  // what follows is of the block
  // [posting]: positions of it and of those before it.
  std::array<uint32_t, kPostingsPerBlock + kBlockPadding> position_ends_;
  ColumnSlices slices_;
  size_t steps_index_ = SIZE_MAX;  // whose positions are in steps_
  std::vector<uint32_t> steps_;    // each as its distance from the one before
  uint32_t first_step_ = 0;        // in steps_
  std::vector<uint32_t> positions_;
};

}  // namespace waymark
