#include "index/query_leaf.h"

#include <algorithm>

namespace waymark {

TermLeaf::TermLeaf(const SegmentView& segment, TermIndex term, const Bm25Term& scorer,
                   absl::Span<const float> weights)
    : segment_(segment),
      weights_(weights.empty() ? absl::MakeConstSpan(segment.weights) : weights),
      some_fields_(!weights.empty()),
      reader_(*segment.postings, term),
      scorer_(scorer) {}

DocNumber TermLeaf::NextAtLeast(DocNumber doc) {
  const size_t block = reader_.FindBlock(block_, doc);
  if (block >= reader_.block_count()) {
    block_ = block;
    return kNoDoc;
  }
  if (block != block_ || docs_.empty()) {
    block_ = block;
    index_ = 0;
    docs_ = reader_.ReadFrequencies(block, weights_);
    ScoreBlock(scorer_, reader_.frequencies(), docs_.data(), docs_.size(), segment_.lengths->data(),
               scores_.data());
  }
  index_ = FindDocument(docs_.data(), index_, doc);
  return docs_[index_];
}

// take(document - window.begin, score)
template <class Take>
size_t TermLeaf::ForEach(const Window& window, WindowBits* bits, Take take) {
  size_t read = 0;
  for (DocNumber next = NextAtLeast(window.begin); next < window.end; next = NextAtLeast(next + 1)) {
    const size_t first = index_;
    const size_t end = FindDocument(docs_.data(), first, window.end);
    for (size_t i = first; i < end; ++i) {
      if (some_fields_ && reader_.frequencies()[i] == 0) continue;
      const DocNumber at = docs_[i] - window.begin;
      (*bits)[at / 64] |= uint64_t{1} << (at % 64);
      if (scorer_.weight > 0) take(at, scores_[i]);
    }
    read += end - first;
    index_ = end - 1;
    next = docs_[end - 1];
  }
  return read;
}

size_t TermLeaf::Collect(Window* window, WindowBits* bits) {
  return ForEach(*window, bits, [window](DocNumber at, FixedScore score) { window->scores[at] += score; });
}

size_t TermLeaf::CollectMost(Window* window, WindowBits* bits) {
  return ForEach(*window, bits, [window](DocNumber at, FixedScore score) {
    window->scores[at] = std::max(window->scores[at], score);
  });
}

}  // namespace waymark
