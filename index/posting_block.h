// Decodes the blocks of one term's postings in a compiled segment (the format is in compiled_segment.h).
// What a block was decoded to is kept until another one is asked for.
//
// Not thread-safe: a reader belongs to one search.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "index/compiled_segment.h"
#include "index/packed_column.h"
#include "index/posting_kernels.h"

namespace waymark {

class PostingBlockReader {
 public:
  PostingBlockReader(const CompiledSegment& segment, TermIndex term)
      : segment_(&segment),
        first_(segment.first_block(term)),
        blocks_(segment.first_block(term + 1) - first_),
        postings_(segment.document_count(term)) {}

  size_t block_count() const { return blocks_; }
  size_t posting_count() const { return postings_; }
  uint64_t first_block() const { return first_; }
  DocNumber last_doc(size_t block) const { return segment_->block(first_ + block).last_doc; }
  size_t size_of(size_t block) const {
    return block + 1 < blocks_ ? kPostingsPerBlock : postings_ - block * kPostingsPerBlock;
  }
  // The first block from `from` on whose last document is at least `doc`; block_count() when there is none.
  size_t FindBlock(size_t from, DocNumber doc) const;

  // The documents of a block; kBlockPadding times kNoDoc stand behind them. Valid until the next call.
  absl::Span<const DocNumber> ReadDocuments(size_t block) {
    if (block != block_) DecodeDocuments(block);
    return {docs_.data(), size_};
  }
  // Has a block's bytes brought near, for a while.
  void Prefetch(size_t block) const {
    const uint8_t* const documents = segment_->documents(first_ + block);
    __builtin_prefetch(documents);
    __builtin_prefetch(documents + 64);
    __builtin_prefetch(documents + 128);
    __builtin_prefetch(segment_->positions(first_ + block));
  }
  // With each document's frequency: sum over fields of weights[field] * tf.  weights: [fields]
  absl::Span<const DocNumber> ReadFrequencies(size_t block, absl::Span<const float> weights) {
    ReadDocuments(block);
    if (!has_frequencies_) DecodeFrequencies(weights);
    return {docs_.data(), size_};
  }
  const float* frequencies() const { return frequencies_.data(); }

  // Of the block that was read last: which fields hold the term, and how often.
  struct FieldColumn {
    uint32_t field;
    std::array<uint32_t, kPostingsPerBlock + kBlockPadding> tf;  // [posting]
  };
  absl::Span<const FieldColumn> ReadFields();
  // The column of all its positions.
  const uint8_t* positions() const { return segment_->positions(first_ + block_); }

 private:
  void DecodeDocuments(size_t block);
  void DecodeFrequencies(absl::Span<const float> weights);

  const CompiledSegment* segment_;
  uint64_t first_;
  size_t blocks_, postings_;
  size_t block_ = SIZE_MAX, size_ = 0;
  const uint8_t* frequency_bytes_ = nullptr;  // of the block
  bool has_frequencies_ = false, has_fields_ = false;
  alignas(64) std::array<DocNumber, kPostingsPerBlock + kBlockPadding> docs_;
  alignas(64) std::array<float, kPostingsPerBlock + kBlockPadding> frequencies_;
  std::vector<FieldColumn> fields_;
  size_t fields_used_ = 0;
};

}  // namespace waymark
