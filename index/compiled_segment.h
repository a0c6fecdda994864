// One Lucene++ segment as this engine searches it: read once in bulk, then immutable, in memory. (Lucene++'s
// own scorers cost about 125 ns a hit and score TF-IDF with one-byte lengths; the compiled form costs a few
// ns and keeps exact lengths.)
//
// A posting is a document and, for each field that holds the term, the field's term frequency; positions lie
// in a stream of their own, so that scoring does not read them. Both streams are variable-length bytes, in
// blocks of 128 postings with a table of their last documents, which cursors skip by.
//
//   document stream, a posting:  varint(document - previous document), then one entry per field, ascending:
//     varint((field - previous field) << 2 | (tf == 1) << 1 | another entry follows), varint(tf) unless tf ==
//     1
//   position stream, a posting:  for each entry, its tf positions: varint(position - previous position)
//
// Documents are numbered as in Lucene++'s segment. Thread-safe.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "store/ids.h"

namespace waymark {

using DocNumber = uint32_t;
using TermIndex = uint32_t;  // of one segment, in the order of the terms' bytes
inline constexpr DocNumber kNoDoc = 0xFFFFFFFFu;
inline constexpr uint32_t kPostingsPerBlock = 128;

struct PostingBlock {
  uint64_t doc_offset;       // into the document stream
  uint64_t position_offset;  // into the position stream
  DocNumber last_doc;
};

class CompiledSegment {
 public:
  const std::string& name() const { return name_; }
  DocNumber doc_count() const { return static_cast<DocNumber>(ordinals_.size()); }
  size_t term_count() const { return document_counts_.size(); }
  const std::vector<std::string>& fields() const { return fields_; }
  size_t memory_bytes() const;

  // kNoItem: the document was deleted before the segment was compiled.
  ItemOrdinal ordinal(DocNumber doc) const { return ordinals_[doc]; }
  // The document of an item; of several (an update's old version is a deleted one) the last.
  std::optional<DocNumber> Find(ItemOrdinal item) const;
  // Number of terms in a field of a document: the sum of its term frequencies.
  uint32_t length(size_t field, DocNumber doc) const { return lengths_[field * doc_count() + doc]; }

  std::optional<TermIndex> FindTerm(std::string_view term) const;
  std::string_view term(TermIndex t) const;
  // Documents that hold the term, counted when the segment was compiled.
  uint32_t document_count(TermIndex t) const { return document_counts_[t]; }
  absl::Span<const PostingBlock> blocks(TermIndex t) const {
    return {blocks_.data() + first_block_[t], first_block_[t + 1] - first_block_[t]};
  }
  const uint8_t* doc_bytes() const { return doc_bytes_.data(); }
  const uint8_t* position_bytes() const { return position_bytes_.data(); }

 private:
  friend class CompiledSegmentBuilder;
  std::string name_;
  std::vector<std::string> fields_;
  std::vector<ItemOrdinal> ordinals_;                          // [doc]
  std::vector<std::pair<ItemOrdinal, DocNumber>> by_ordinal_;  // sorted; empty when ordinals_ is sorted
  std::vector<uint32_t> lengths_;                              // [field, doc]
  std::string term_bytes_;
  std::vector<uint64_t> term_begin_;       // [term + 1]
  std::vector<uint32_t> document_counts_;  // [term]
  std::vector<uint64_t> first_block_;      // [term + 1]
  std::vector<PostingBlock> blocks_;
  std::vector<uint8_t> doc_bytes_, position_bytes_;
};

// Takes terms in the order of their bytes, and each term's postings by document, then field.
//
//   CompiledSegmentBuilder builder("_7", {"title", "text"}, std::move(ordinals));
//   builder.StartTerm("war");
//   builder.Add(/*doc=*/3, /*field=*/0, /*positions=*/{1, 5});
//   std::shared_ptr<const CompiledSegment> segment = builder.Finish();
class CompiledSegmentBuilder {
 public:
  CompiledSegmentBuilder(std::string name, std::vector<std::string> fields,
                         std::vector<ItemOrdinal> ordinals);
  void StartTerm(std::string_view term);
  // `positions`: ascending, not empty.
  void Add(DocNumber doc, uint32_t field, absl::Span<const int32_t> positions);
  std::shared_ptr<const CompiledSegment> Finish();

 private:
  void FinishPosting();
  void FinishTerm();

  std::unique_ptr<CompiledSegment> segment_;
  struct Entry {
    uint32_t field, tf;
  };
  std::vector<Entry> entries_;  // of the posting that is being taken in
  DocNumber doc_ = kNoDoc;      // its document
  DocNumber previous_doc_ = 0;
  uint32_t postings_ = 0;  // of the term
};

}  // namespace waymark
