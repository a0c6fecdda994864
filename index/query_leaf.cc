#include "index/query_leaf.h"

#include <algorithm>

namespace waymark {

TermLeaf::TermLeaf(const SegmentView& segment, TermIndex term, float idf, const Bm25Lengths& lengths)
    : segment_(segment), reader_(*segment.postings, term), idf_(idf), lengths_(lengths) {}

DocNumber TermLeaf::NextAtLeast(DocNumber doc) {
  if (block_ == SIZE_MAX || (block_ < reader_.block_count() && reader_.block(block_).last_doc < doc)) {
    block_ = reader_.FindBlock(block_ == SIZE_MAX ? 0 : block_, doc);
    index_ = 0;
    if (block_ < reader_.block_count()) docs_ = reader_.ReadFrequencies(block_, segment_.weights);
  }
  if (block_ >= reader_.block_count()) return kNoDoc;
  index_ = std::lower_bound(docs_.begin() + index_, docs_.end(), doc) - docs_.begin();
  return docs_[index_];
}

size_t TermLeaf::Collect(Window* window, WindowBits* bits) {
  size_t read = 0;
  const std::vector<float>& lengths = *segment_.lengths;
  for (DocNumber next = NextAtLeast(window->begin); next < window->end; next = NextAtLeast(next + 1)) {
    const size_t first = index_;
    const size_t end = std::lower_bound(docs_.begin() + first, docs_.end(), window->end) - docs_.begin();
    const float* frequencies = reader_.frequencies();
    for (size_t i = first; i < end; ++i) {
      const DocNumber at = docs_[i] - window->begin;
      (*bits)[at / 64] |= uint64_t{1} << (at % 64);
      window->scores[at] += Bm25Score(idf_, frequencies[i], lengths[docs_[i]], lengths_);
    }
    read += end - first;
    index_ = end - 1;
    next = docs_[end - 1];
  }
  return read;
}

}  // namespace waymark
