// What a stretch of documents holds, inverted in memory: of each field its terms, and of each term, as bytes,
// its documents and positions in the order in which they came. The first stage of a bulk load
// (index/bulk_part.h); what it holds goes to a file as a run (index/posting_run.h).
//
//   TermPostingsTable table;
//   table.Add(/*field=*/0, /*doc=*/17, terms);
//   for (uint32_t t : table.SortedTerms(0)) table.ReadPostings(0, t, &bytes);   // of table.term(0, t)
//
// A term finds its number by hashing (open addressing). Its bytes lie in slices, each twice as long as the
// one before and linked to it, all in one arena: appending never copies, and a term that occurs once takes
// 12 bytes.
//
// The bytes of a term, as varints (index/varint.h), for each of its places, by document and position:
//
//   the first place in a document:   (document - previous document - 1) * 2 + 1, then the position
//                                    (before the first document stands -1)
//   another:                         (position - previous position) * 2
//
// Not thread-safe.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "index/analyzer.h"
#include "index/compiled_segment.h"
#include "index/huge_pages.h"

namespace waymark {

class TermPostingsTable {
 public:
  // Fields are numbered from 0 on, without gaps. Documents ascend. The arena must not pass 4 GiB: no document
  // may bring more than kMostOfDocument while memory_bytes() is below that.
  void Add(uint32_t field, DocNumber doc, const TermList& terms);

  bool empty() const { return used_ == 0; }
  // Of all that grows with what is added.
  size_t memory_bytes() const { return used_ + index_bytes_; }
  uint32_t field_count() const { return static_cast<uint32_t>(fields_.size()); }

  // Numbers of a field's terms, by the order of their bytes.
  std::vector<uint32_t> SortedTerms(uint32_t field) const;
  std::string_view term(uint32_t field, uint32_t t) const { return Text(fields_[field].terms[t]); }
  void ReadPostings(uint32_t field, uint32_t t, std::vector<uint8_t>* bytes) const;

  // Empties it; keeps the memory.
  void Clear();

  // Of an item's words, with 64 bytes for each place that one has.
  static constexpr size_t kMostOfDocument = size_t{1} << 30;

 private:
  struct Term {
    uint32_t text;  // where in the arena
    uint32_t text_size : 24, level : 8;
    uint32_t hash;
    uint32_t first, next, end;  // the first slice; where the next byte goes; where the slice ends
    DocNumber last_doc = kNoDoc;
    uint32_t last_position = 0;
  };
  struct Slot {
    uint32_t hash, term_and_one;  // 0: empty
  };
  struct Field {
    HugePageVector<Slot> slots;  // a power of two of them
    HugePageVector<Term> terms;
  };

  std::string_view Text(const Term& term) const {
    return {reinterpret_cast<const char*>(arena_.data()) + term.text, term.text_size};
  }
  Term& FindOrAdd(Field* field, uint32_t hash, std::string_view text);
  Term& AddTerm(Field* field, uint32_t hash, std::string_view text);
  void AddPlace(Term* term, DocNumber doc, uint32_t position);
  void AppendOverSlices(Term* term, const uint8_t* bytes, size_t size);
  static void GrowSlots(Field* field);
  uint32_t Allocate(size_t bytes);

  HugePageVector<uint8_t> arena_;
  size_t used_ = 0, index_bytes_ = 0;
  std::vector<Field> fields_;
  std::vector<uint32_t> hashes_;  // of the terms that are being added
};

}  // namespace waymark
