// Decodes the blocks of one term's postings in a compiled segment (the format is in compiled_segment.h).
//
// Not thread-safe: a reader belongs to one search.
#pragma once
#include <array>
#include <cstdint>

#include "absl/types/span.h"
#include "index/compiled_segment.h"

namespace waymark {

class PostingBlockReader {
 public:
  PostingBlockReader(const CompiledSegment& segment, TermIndex term)
      : segment_(&segment), blocks_(segment.blocks(term)), postings_(segment.document_count(term)) {}

  size_t block_count() const { return blocks_.size(); }
  const PostingBlock& block(size_t i) const { return blocks_[i]; }
  size_t size_of(size_t block) const {
    return block + 1 < blocks_.size() ? kPostingsPerBlock : postings_ - block * kPostingsPerBlock;
  }
  // The first block from `from` on whose last document is at least `doc`; block_count() when there is none.
  size_t FindBlock(size_t from, DocNumber doc) const;

  // The documents of a block. Valid until the next call.
  absl::Span<const DocNumber> ReadDocuments(size_t block);
  // With each document's frequency: sum over fields of weights[field] * tf.  weights: [fields]
  absl::Span<const DocNumber> ReadFrequencies(size_t block, absl::Span<const float> weights);
  const float* frequencies() const { return frequencies_.data(); }

 private:
  const uint8_t* Start(size_t block, DocNumber* previous) const {
    *previous = block == 0 ? 0 : blocks_[block - 1].last_doc;
    return segment_->doc_bytes() + blocks_[block].doc_offset;
  }
  const CompiledSegment* segment_;
  absl::Span<const PostingBlock> blocks_;
  size_t postings_;
  std::array<DocNumber, kPostingsPerBlock> docs_;
  std::array<float, kPostingsPerBlock> frequencies_;
};

}  // namespace waymark
