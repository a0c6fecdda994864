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
  PhraseCursor(const SegmentView& segment, const std::vector<Word>& words);

  // Moves to the first document, at least `doc`, that holds all words, in whatever places; kNoDoc: none.
  DocNumber AdvanceToWords(DocNumber doc);
  // Of that document: sum over fields of weight * number of places; 0 when the words never stand as the
  // phrase says.
  float Frequency();
  // Postings passed since the last call, about.
  size_t TakeWork();

 private:
  uint32_t CountPlaces(uint32_t field);

  const SegmentView& segment_;
  std::vector<PostingCursor> cursors_;  // the rarest word first
  std::vector<uint32_t> offsets_;
  DocNumber doc_ = kNoDoc;
  size_t work_ = 0;
  std::vector<uint32_t> starts_;  // scratch: where the phrase may begin
};

class PhraseLeaf : public QueryLeaf {
 public:
  PhraseLeaf(const SegmentView& segment, const std::vector<PhraseCursor::Word>& words, float idf,
             const Bm25Lengths& lengths)
      : segment_(segment), cursor_(segment, words), idf_(idf), lengths_(lengths) {}
  DocNumber NextAtLeast(DocNumber doc) override;
  size_t Collect(Window* window, WindowBits* bits) override;

 private:
  const SegmentView& segment_;
  PhraseCursor cursor_;
  const float idf_;
  const Bm25Lengths lengths_;
  DocNumber doc_ = 0;  // where the cursor stands, when started_
  bool started_ = false;
};

}  // namespace waymark
