#include "index/variants_leaf.h"

#include <algorithm>
#include <bit>

namespace waymark {

VariantsLeaf::VariantsLeaf(const SegmentView& segment, const std::vector<BoundVariant>& variants,
                           const Bm25Lengths& lengths) {
  terms_.reserve(variants.size());
  for (const BoundVariant& variant : variants) {
    const TermIndex term = variant.found[segment.number];
    if (term != kNoTerm) terms_.emplace_back(segment, term, Bm25Term{variant.weight, lengths});
  }
  best_.scores.fill(0);
}

DocNumber VariantsLeaf::NextAtLeast(DocNumber doc) {
  DocNumber first = kNoDoc;
  for (TermLeaf& term : terms_) first = std::min(first, term.NextAtLeast(doc));
  return first;
}

size_t VariantsLeaf::Collect(Window* window, WindowBits* bits) {
  best_.begin = window->begin;
  best_.end = window->end;
  WindowBits held{};
  size_t read = 0;
  for (TermLeaf& term : terms_) read += term.CollectMost(&best_, &held);
  for (size_t word = 0; word < kWindowWords; ++word) {
    (*bits)[word] |= held[word];
    for (uint64_t rest = held[word]; rest != 0; rest &= rest - 1) {
      const size_t at = word * 64 + static_cast<size_t>(std::countr_zero(rest));
      window->scores[at] += best_.scores[at];
      best_.scores[at] = 0;
    }
  }
  return read;
}

}  // namespace waymark
