// A word or phrase of a query in one segment: finds the documents that hold it, a window of documents at a
// time, and adds its scores to theirs.
//
// A query walks its segments in windows: in each, every leaf marks its documents and adds its scores (term at
// a time, so a list is decoded once, in order); then the query's structure decides, by whole words of bits,
// which documents match. What a document scores does not depend on the structure: every asked word that it
// holds counts.
//
// Not thread-safe: leaves belong to one search.
#pragma once
#include <array>
#include <cstdint>

#include "absl/types/span.h"
#include "index/bm25.h"
#include "index/index_snapshot.h"
#include "index/posting_block.h"

namespace waymark {

inline constexpr DocNumber kWindowSize = 4096;  // scores of a window stay in the processor's first cache
inline constexpr size_t kWindowWords = kWindowSize / 64;
using WindowBits = std::array<uint64_t, kWindowWords>;

struct Window {
  DocNumber begin = 0, end = 0;                // begin: a multiple of 64
  std::array<FixedScore, kWindowSize> scores;  // [doc - begin]
};

class QueryLeaf {
 public:
  virtual ~QueryLeaf() = default;
  // A document, at least `doc`, before which this leaf has none; kNoDoc when it has none any more. Calls come
  // with growing `doc`, as do those of Collect() with the windows.
  virtual DocNumber NextAtLeast(DocNumber doc) = 0;
  // Marks this leaf's documents in the window and adds their scores. Answers the number of postings read.
  virtual size_t Collect(Window* window, WindowBits* bits) = 0;
};

class TermLeaf : public QueryLeaf {
 public:
  // A scorer's weight of 0: the word is there to exclude. weights: [fields of the segment], 0 for those in
  // which the term does not count; empty: the segment's.
  TermLeaf(const SegmentView& segment, TermIndex term, const Bm25Term& scorer,
           absl::Span<const float> weights = {});
  DocNumber NextAtLeast(DocNumber doc) override;
  size_t Collect(Window* window, WindowBits* bits) override;
  // Marks the window's documents and makes their scores at least what this term gives.
  size_t CollectMost(Window* window, WindowBits* bits);

 private:
  template <class Take>
  size_t ForEach(const Window& window, WindowBits* bits, Take take);

  const SegmentView& segment_;
  const absl::Span<const float> weights_;
  const bool some_fields_;  // documents may hold the term where it does not count
  PostingBlockReader reader_;
  const Bm25Term scorer_;
  size_t block_ = 0;
  absl::Span<const DocNumber> docs_;  // of the block
  size_t index_ = 0;                  // in the block: the next document that was not collected
  std::array<FixedScore, kPostingsPerBlock + kBlockPadding> scores_;  // of the block
};

}  // namespace waymark
