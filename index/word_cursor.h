// Walks the documents that hold one word of a query, which may stand for several terms, with its places in
// them.
//
//   std::optional<WordCursor> cursor = WordCursor::Make(segment, bound, t);
//   if (cursor && cursor->Advance(doc) == doc) cursor->AppendPlaces(&places);
//
// Not thread-safe: a cursor belongs to one search.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "index/bound_query.h"
#include "index/posting_cursor.h"

namespace waymark {

class WordCursor {
 public:
  // Of the terms that a word stands for, the best so many are looked for.
  static constexpr size_t kMostTerms = 8;
  struct Place {
    uint32_t field, position;
    bool operator<(const Place& other) const {
      return field != other.field ? field < other.field : position < other.position;
    }
  };

  // `t`: into ParsedQuery::terms. None: the segment holds nothing of it.
  static std::optional<WordCursor> Make(const SegmentView& segment, const BoundQuery& bound, size_t t);

  size_t postings() const { return postings_; }
  // Moves to the first document, at least `doc`, that holds the word, never backwards; kNoDoc: none.
  DocNumber Advance(DocNumber doc);
  // Of the document that Advance() found.
  bool HeldIn(uint32_t field);
  // Sorted by field, then position; what was in `places` is lost.
  void ReadPlaces(std::vector<Place>* places);
  // What the document scores for the word: the best of its terms.
  FixedScore Score();

 private:
  WordCursor(const SegmentView& segment, Bm25Lengths lengths) : segment_(&segment), lengths_(lengths) {}
  void Add(TermIndex term, float weight);

  const SegmentView* segment_;
  Bm25Lengths lengths_;
  std::vector<PostingCursor> cursors_;
  std::vector<float> weights_;  // [cursors]
  size_t postings_ = 0;
  DocNumber doc_ = 0;
};

}  // namespace waymark
