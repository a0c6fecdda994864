// A phrase in one segment: documents where its words stand at their places within one field. It scores as one
// word would whose term frequency is the number of such places and whose idf is the sum of its words' idf (as
// Lucene's phrase queries do).
//
// Not thread-safe: leaves belong to one search.
#pragma once
#include <vector>

#include "index/posting_cursor.h"
#include "index/query_leaf.h"

namespace waymark {

// Walks the documents of a phrase.
class PhraseCursor {
 public:
  struct Word {
    TermIndex term;
    uint32_t offset;  // place in the phrase
  };
  PhraseCursor(const SegmentView& segment, const std::vector<Word>& words, const Bm25Term& scorer,
               double average_length);

  // Moves to the first document, at least `doc`, that holds all words, in whatever places; kNoDoc: none.
  // Documents in blocks that cannot score `needed` are passed over.
  DocNumber AdvanceToWords(DocNumber doc, FixedScore needed = 0);
  // Of that document: sum over fields of weight * number of places; 0 when the words never stand as the
  // phrase says.
  float Frequency();
  // Whether the words stand as the phrase says in this field of that document.
  bool StandsIn(uint32_t field) { return CountPlaces(field) > 0; }
  // How often they do.
  uint32_t PlacesIn(uint32_t field) { return CountPlaces(field); }
  // It does not score more than this.
  FixedScore Bound(float length);
  const Bm25Term& scorer() const { return scorer_; }
  // Postings passed since the last call, about.
  size_t TakeWork();

 private:
  uint32_t CountPlaces(uint32_t field);
  // The first document from `doc` on whose blocks may score `needed`.
  DocNumber PassBlocks(DocNumber doc, FixedScore needed);

  const SegmentView& segment_;
  const Bm25Term scorer_;
  float bound_unit_;
  std::vector<PostingCursor> cursors_;   // the rarest word first
  std::vector<const uint16_t*> bounds_;  // [cursor, block]
  std::vector<uint32_t> offsets_;
  DocNumber passed_ = 0;  // documents before this were looked at by PassBlocks, with what was needed then
  size_t work_ = 0;
  std::vector<uint32_t> starts_;  // scratch: where the phrase may begin
};

class PhraseLeaf : public QueryLeaf {
 public:
  PhraseLeaf(const SegmentView& segment, const std::vector<PhraseCursor::Word>& words, const Bm25Term& scorer,
             double average_length)
      : segment_(segment), cursor_(segment, words, scorer, average_length) {}
  DocNumber NextAtLeast(DocNumber doc) override;
  size_t Collect(Window* window, WindowBits* bits) override;

 private:
  const SegmentView& segment_;
  PhraseCursor cursor_;
  DocNumber doc_ = 0;  // where the cursor stands, when started_
  bool started_ = false;
};

}  // namespace waymark
