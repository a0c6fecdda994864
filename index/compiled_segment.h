// One Lucene++ segment as this engine searches it: read once in bulk, then an immutable image that is the
// same in memory and in its file (index/compiled_file.h), which the next start reads. (Lucene++'s
// own scorers cost about 125 ns a hit and score TF-IDF with one-byte lengths; the compiled form costs about
// one ns and keeps exact lengths.)
//
// Postings lie in blocks of 128, positions in a stream of their own, so that scoring does not read them. A
// block is columns (index/packed_column.h), one number for each of its postings:
//
//   documents:    document - previous document - 1 (before the first one of a term stands -1)
//   frequencies:  in a segment of one field:  term frequency - 1
//                 else:  varint(fields that hold the term in this block), then for each, ascending:
//                        varint(field), a column of term frequencies, 0 where the field lacks it
//   positions:    position - previous position within the field (before the first one stands 0), for each
//                 posting, for each field that holds the term: one column for the whole block
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
  DocNumber last_doc;
  // Into the streams, from where those of every kBlocksPerBase blocks begin.
  uint32_t doc_offset, position_offset;
};
inline constexpr uint64_t kBlocksPerBase = 4096;

class CompiledSegment {
 public:
  const std::string& name() const { return name_; }
  DocNumber doc_count() const { return static_cast<DocNumber>(ordinals_.size()); }
  size_t term_count() const { return document_counts_.size(); }
  const std::vector<std::string>& fields() const { return fields_; }
  size_t memory_bytes() const { return image_.size(); }
  // Begins with a header; kept as it is in the file.
  absl::Span<const uint8_t> image() const { return image_; }

  // kNoItem: the document was deleted before the segment was compiled.
  ItemOrdinal ordinal(DocNumber doc) const { return ordinals_[doc]; }
  const ItemOrdinal* ordinal_address(DocNumber doc) const { return &ordinals_[doc]; }
  // Whether items come in order of their ordinals, as after an import.
  bool in_order() const { return by_ordinal_.empty(); }
  // The document of an item; of several (an update's old version is a deleted one) the last.
  std::optional<DocNumber> Find(ItemOrdinal item) const;
  // Number of terms in a field of a document: the sum of its term frequencies, without exact forms.
  uint32_t length(size_t field, DocNumber doc) const {
    const size_t i = field * doc_count() + doc;
    return long_lengths_.empty() ? short_lengths_[i] : long_lengths_[i];
  }

  std::optional<TermIndex> FindTerm(std::string_view term) const;
  // The first term that does not stand before `text`; term_count(): none.
  TermIndex LowerBound(std::string_view text) const;
  std::string_view term(TermIndex t) const {
    const uint32_t begin = t == 0 ? 0 : term_ends_[t - 1];
    return {term_bytes_.data() + begin, term_ends_[t] - begin};
  }
  // Documents that hold the term, counted when the segment was compiled.
  uint32_t document_count(TermIndex t) const { return document_counts_[t]; }

  // Blocks are numbered through all terms.
  size_t block_count() const { return blocks_.size(); }
  uint64_t first_block(TermIndex t) const { return first_blocks_[t]; }
  const PostingBlock& block(uint64_t b) const { return blocks_[b]; }
  const uint8_t* documents(uint64_t b) const {
    return doc_bytes_.data() + doc_bases_[b / kBlocksPerBase] + blocks_[b].doc_offset;
  }
  const uint8_t* positions(uint64_t b) const {
    return position_bytes_.data() + position_bases_[b / kBlocksPerBase] + blocks_[b].position_offset;
  }
  absl::Span<const uint8_t> doc_bytes() const { return doc_bytes_; }
  absl::Span<const uint8_t> position_bytes() const { return position_bytes_; }

 private:
  friend class CompiledImage;
  std::shared_ptr<const void> owner_;  // of the image
  absl::Span<const uint8_t> image_;
  std::string name_;
  std::vector<std::string> fields_;
  absl::Span<const ItemOrdinal> ordinals_;    // [doc]
  absl::Span<const DocNumber> by_ordinal_;    // sorted by ordinal, then number; empty when the documents are
  absl::Span<const uint16_t> short_lengths_;  // [field, doc]
  absl::Span<const uint32_t> long_lengths_;   // [field, doc]: instead of the others where one is longer
  absl::Span<const char> term_bytes_;
  absl::Span<const uint32_t> term_ends_;        // [term]
  std::vector<uint64_t> term_keys_;             // [term / kTermsPerKey]: TermKey()
  absl::Span<const uint32_t> document_counts_;  // [term]
  absl::Span<const uint32_t> first_blocks_;     // [term + 1]
  absl::Span<const PostingBlock> blocks_;
  absl::Span<const uint64_t> doc_bases_, position_bases_;  // [block / kBlocksPerBase]
  absl::Span<const uint8_t> doc_bytes_, position_bytes_;
};

// The first eight bytes, so that they compare like the terms; shorter ones end in zeros.
uint64_t TermKey(std::string_view term);
inline constexpr size_t kTermsPerKey = 32;

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
  void FinishBlock();
  void AppendFrequencies();
  void FinishTerm();

  std::string name_;
  std::vector<std::string> fields_;
  std::vector<ItemOrdinal> ordinals_;
  std::vector<uint32_t> lengths_;
  std::string term_bytes_;
  std::vector<uint32_t> term_ends_, document_counts_, first_blocks_;
  std::vector<PostingBlock> blocks_;
  std::vector<uint64_t> doc_bases_, position_bases_;
  std::vector<uint8_t> doc_bytes_, position_bytes_;

  // Of the block that is being taken in.
  struct Entry {
    uint32_t posting, field, tf;
  };
  std::vector<Entry> entries_;
  std::vector<uint32_t> gaps_, positions_;
  std::vector<uint32_t> column_;  // that is being written
  DocNumber last_doc_ = kNoDoc;   // of the term; kNoDoc: it has none yet
  uint32_t postings_ = 0;         // of the term
  bool in_term_ = false;
  bool in_form_ = false;  // the term is an exact form, which counts for no length
};

}  // namespace waymark
