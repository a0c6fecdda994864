#include "index/variants_leaf.h"

#include <algorithm>
#include <bit>

namespace waymark {

VariantsLeaf::VariantsLeaf(const SegmentView& segment, const BoundQuery& query, size_t t) {
  const std::vector<BoundVariant>& variants = query.variants[t];
  terms_.reserve(variants.size());
  for (const BoundVariant& variant : variants) {
    const TermIndex term = variant.found[segment.number];
    if (term == kNoTerm) continue;
    const Bm25Term scorer{variant.weight, query.lengths};
    if (variant.found_second.empty()) {
      terms_.emplace_back(segment, term, scorer, query.WeightsIn(segment, variant.scope));
    } else if (const TermIndex second = variant.found_second[segment.number]; second != kNoTerm) {
      pairs_.emplace_back(segment, std::vector<PhraseCursor::Word>{{term, 0}, {second, 1}}, scorer,
                          query.average_length);
    }
  }
  best_.scores.fill(0);
  if (!pairs_.empty()) pair_.scores.fill(0);
}

DocNumber VariantsLeaf::NextAtLeast(DocNumber doc) {
  DocNumber first = kNoDoc;
  for (TermLeaf& term : terms_) first = std::min(first, term.NextAtLeast(doc));
  for (PhraseLeaf& pair : pairs_) first = std::min(first, pair.NextAtLeast(doc));
  return first;
}

void VariantsLeaf::TakeBest(const WindowBits& held) {
  for (size_t word = 0; word < kWindowWords; ++word) {
    for (uint64_t rest = held[word]; rest != 0; rest &= rest - 1) {
      const size_t at = word * 64 + static_cast<size_t>(std::countr_zero(rest));
      best_.scores[at] = std::max(best_.scores[at], pair_.scores[at]);
      pair_.scores[at] = 0;
    }
  }
}

size_t VariantsLeaf::Collect(Window* window, WindowBits* bits) {
  best_.begin = pair_.begin = window->begin;
  best_.end = pair_.end = window->end;
  WindowBits held{};
  size_t read = 0;
  for (TermLeaf& term : terms_) read += term.CollectMost(&best_, &held);
  for (PhraseLeaf& pair : pairs_) {
    WindowBits held_pair{};
    read += pair.Collect(&pair_, &held_pair);
    TakeBest(held_pair);
    for (size_t word = 0; word < kWindowWords; ++word) held[word] |= held_pair[word];
  }
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
