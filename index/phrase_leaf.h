// A phrase in one segment: documents where its words stand at their places within one field. It scores as one
// word would whose term frequency is the number of such places and whose idf is the sum of its words' idf (as
// Lucene's phrase queries do).
//
// Not thread-safe: leaves belong to one search.
#pragma once
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "index/posting_cursor.h"
#include "index/query_leaf.h"
#include "index/sloppy_places.h"

namespace waymark {

// Walks the documents of a phrase.
class PhraseCursor {
 public:
  struct Word {
    TermIndex term;
    uint32_t offset;  // place in the phrase
  };
  struct Options {
    absl::Span<const float> weights = {};  // as TermLeaf's
    int slop = 0;                          // places that the words may be moved: index/sloppy_places.h
  };
  PhraseCursor(const SegmentView& segment, const std::vector<Word>& words, const Bm25Term& scorer,
               double average_length, const Options& options);
  PhraseCursor(const SegmentView& segment, const std::vector<Word>& words, const Bm25Term& scorer,
               double average_length)
      : PhraseCursor(segment, words, scorer, average_length, Options()) {}

  // Moves to the first document, at least `doc`, that holds all words, in whatever places; kNoDoc: none.
  // Words of three or more that very many documents hold are left to Frequency(), which is 0 where one is
  // missing. Documents that cannot score `needed` by their length and the rarest word, or by their blocks,
  // are passed over; without slop only.
  DocNumber AdvanceToWords(DocNumber doc, FixedScore needed = 0);
  // Of that document: sum over fields of weight * number of places, of which those that are moved count in
  // part; 0 when the words never stand as the phrase says.
  float Frequency();
  // Whether the words stand as the phrase says in this field of that document.
  bool StandsIn(uint32_t field) { return Places(field) > 0; }
  // How often they do, as Frequency() counts it.
  float PlacesIn(uint32_t field) { return Places(field); }
  // Whether it may, which AdvanceToWords() was asked, by the frequencies of the words; without slop only.
  bool MayScore(FixedScore needed, float length);
  const Bm25Term& scorer() const { return scorer_; }
  // Postings passed since the last call, about.
  size_t TakeWork();

 private:
  float Places(uint32_t field) { return slop_ > 0 ? SloppyPlaces(field) : CountPlaces(field); }
  float CountPlaces(uint32_t field);
  float SloppyPlaces(uint32_t field);
  // Whether the block of a cursor that holds `doc`, or where it would stand, may score `needed`.
  bool BlockMayScore(size_t cursor, size_t block, FixedScore needed) const {
    // A phrase is no more frequent than its words, so it scores no more than the least of their bounds.
    return static_cast<FixedScore>(bounds_[cursor][block] * bound_unit_) + 3 >= needed;
  }
  // The first document of the rarest word, at least `doc`, that may score `needed`.
  DocNumber AdvanceFirst(DocNumber doc, FixedScore needed);
  // Reads of the second word's blocks wait for memory: those for a block of the first are begun together.
  void PrefetchSecond(FixedScore least);

  const SegmentView& segment_;
  const Bm25Term scorer_;
  const absl::Span<const float> weights_;
  const int slop_;
  float bound_unit_;
  std::vector<PostingCursor> cursors_;   // the rarest word first
  size_t sought_;                        // how many of them, from the rarest on, documents are sought by
  std::vector<const uint16_t*> bounds_;  // [cursor, block]
  std::vector<uint32_t> offsets_;
  // [place in the block of the first]: no block of the second before it holds that document.
  std::array<uint32_t, kPostingsPerBlock> second_blocks_;
  size_t prefetched_block_ = SIZE_MAX;  // of the first cursor
  size_t scored_block_ = SIZE_MAX;      // of the first cursor, whose words' scores are in first_scores_
  std::array<FixedScore, kPostingsPerBlock + kBlockPadding> first_scores_;
  size_t work_ = 0;
  std::vector<uint32_t> starts_;    // scratch: where the phrase may begin
  std::vector<TermIndex> terms_;    // [cursor]; with slop only
  std::vector<SloppyWord> sloppy_;  // scratch
};

// What holds the phrase in one of the ways in which it may be written, with the score of the best of them.
class PhraseLeaf : public QueryLeaf {
 public:
  PhraseLeaf(const SegmentView& segment, std::vector<PhraseCursor> versions)
      : segment_(segment), versions_(std::move(versions)), docs_(versions_.size()) {}
  PhraseLeaf(const SegmentView& segment, const std::vector<PhraseCursor::Word>& words, const Bm25Term& scorer,
             double average_length)
      : PhraseLeaf(segment, OneOf(PhraseCursor(segment, words, scorer, average_length))) {}
  DocNumber NextAtLeast(DocNumber doc) override;
  size_t Collect(Window* window, WindowBits* bits) override;

 private:
  static std::vector<PhraseCursor> OneOf(PhraseCursor cursor) {
    std::vector<PhraseCursor> one;
    one.push_back(std::move(cursor));
    return one;
  }

  const SegmentView& segment_;
  std::vector<PhraseCursor> versions_;
  std::vector<DocNumber> docs_;  // [version]: where the cursor stands, when started_
  bool started_ = false;
};

}  // namespace waymark
