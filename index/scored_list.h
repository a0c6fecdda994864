// One word's postings in one segment with the scores that a query gives them: what the algorithms are made
// of.
//
// A search goes through the documents in windows, from first to last; in each, a list either puts its
// documents forward (Accumulate, Append) or is asked about those that others have put forward (Add, Require,
// Exclude).
//
// Not thread-safe: lists belong to one search.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "index/bm25.h"
#include "index/index_snapshot.h"
#include "index/posting_block.h"

namespace waymark {

// Documents in order, with what they score so far.
struct Candidates {
  std::vector<DocNumber> docs;
  std::vector<FixedScore> scores;
  size_t count = 0;

  // Makes room for that many more, and for what kernels write too far.
  void Reserve(size_t more) {
    const size_t room = count + more + kBlockPadding;
    if (docs.size() < room) docs.resize(room * 2), scores.resize(room * 2);
  }
};

// Sums of scores of a window's documents. All zero between windows.
struct ScoreWindow {
  static constexpr DocNumber kLargest = 1 << 16;
  std::vector<FixedScore> sums = std::vector<FixedScore>(kLargest);    // [document - begin]
  std::vector<uint8_t> touched = std::vector<uint8_t>(kLargest / 16);  // [(document - begin) / 16]: 1 or 0
  DocNumber begin = 0, end = 0;                                        // begin: a multiple of 64

  // Moves the documents that score at least `least` (above 0) to `candidates`, and empties the window.
  void Take(FixedScore least, Candidates* candidates);
};

class ScoredList {
 public:
  // A scorer's weight of 0: the word is there to exclude. weights: [fields of the segment], 0 for those in
  // which the term does not count; empty: the segment's, in which every field counts.
  ScoredList(const SegmentView& segment, TermIndex term, const Bm25Term& scorer, double average_length,
             absl::Span<const float> weights = {});

  size_t postings() const { return reader_.posting_count(); }
  // No document scores more.
  FixedScore bound() const { return bound_; }
  // Postings decoded since the last call.
  size_t TakeWork();

  // The first document from `doc` on; kNoDoc: none. Like windows, `doc` never goes back.
  DocNumber NextAtLeast(DocNumber doc);
  // No document of the window scores more than the answer; 0: it has none.
  FixedScore EnterWindow(DocNumber begin, DocNumber end);

  void Accumulate(ScoreWindow* window);
  // Makes sums at least what this list gives.
  void AccumulateMost(ScoreWindow* window);
  size_t block_count() const { return reader_.block_count(); }
  // The first block from `from` on that may score `needed`; block_count(): none.
  size_t NextBlock(size_t from, FixedScore needed) const;
  // The blocks of the greatest bounds, at most `count`, in order.
  std::vector<size_t> BestBlocks(size_t count) const;
  // Appends the documents of one block that score at least `least`. Blocks may come in any order; Rewind()
  // before anything else is asked.
  void AppendBlock(size_t block, FixedScore least, Candidates* candidates);
  void Rewind() { block_ = 0, loaded_ = SIZE_MAX; }
  // Appends the documents in [begin, end) that score at least `least`.
  void Append(DocNumber begin, DocNumber end, FixedScore least, Candidates* candidates);

  // Adds scores to candidates. Those that cannot come to `needed` with `rest` more go, some without a look at
  // their postings.
  void Add(FixedScore needed, FixedScore rest, Candidates* candidates) {
    Refine<false>(needed, rest, candidates);
  }
  // The same, and those that the list does not hold go.
  void Require(FixedScore needed, FixedScore rest, Candidates* candidates) {
    Refine<true>(needed, rest, candidates);
  }
  // Makes most[c] at least what this list gives candidate c. Those that cannot come to `needed` with `rest`
  // by it are passed over. most: [candidates]
  void RaiseTo(FixedScore needed, FixedScore rest, const Candidates& candidates, FixedScore* most);
  // Those that the list holds go.
  void Exclude(Candidates* candidates);

 private:
  // take(document, score) of the window's.
  template <class Take>
  void ForEachIn(const ScoreWindow& window, Take take);
  template <bool required>
  void Refine(FixedScore needed, FixedScore rest, Candidates* candidates);
  FixedScore Bound(uint16_t impact) const { return static_cast<FixedScore>(impact * bound_unit_) + 3; }
  const DocNumber* Load(size_t block);
  void ScoreLoaded();
  bool HasBlock() const { return block_ < reader_.block_count(); }

  const SegmentView& segment_;
  const absl::Span<const float> weights_;
  const bool some_fields_;  // documents may hold the term where it does not count
  PostingBlockReader reader_;
  const Bm25Term scorer_;
  const uint16_t* bounds_;  // [block]
  float bound_unit_;
  FixedScore bound_;
  size_t block_ = 0;          // every block before it is done with
  size_t loaded_ = SIZE_MAX;  // block
  size_t index_ = 0;          // in the loaded block: every posting before it is done with
  bool scored_ = false;       // the loaded block
  size_t work_ = 0;
  alignas(64) std::array<FixedScore, kPostingsPerBlock + kBlockPadding> scores_;
};

}  // namespace waymark
