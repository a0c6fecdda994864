#include "index/synonyms_leaf.h"

#include <algorithm>
#include <bit>

namespace waymark {
namespace {

template <class Take>
void ForEachBit(const WindowBits& bits, Take take) {
  for (size_t word = 0; word < kWindowWords; ++word) {
    for (uint64_t rest = bits[word]; rest != 0; rest &= rest - 1) {
      take(word * 64 + static_cast<size_t>(std::countr_zero(rest)));
    }
  }
}

}  // namespace

SynonymsLeaf::SynonymsLeaf(const SegmentView& segment, const BoundQuery& query, size_t place)
    : all_typed_(query.query.synonyms[place].all) {
  const QuerySynonyms& asked = query.query.synonyms[place];
  const BoundSynonyms& bound = query.synonyms[place];
  for (size_t w = 0; w < asked.typed.size(); ++w) {
    const auto term = query.Find(segment, asked.typed[w]);
    typed_complete_ = typed_complete_ && term.has_value();
    if (term) typed_.emplace_back(segment, *term, Bm25Term{bound.typed_weight[w], query.lengths});
  }
  for (const BoundSynonym& other : bound.others) {
    if (other.MissingIn(segment)) continue;
    const Bm25Term scorer{other.weight, query.lengths};
    if (other.terms.size() == 1) {
      others_.push_back(std::make_unique<TermLeaf>(segment, other.found[segment.number][0], scorer));
    } else {
      others_.push_back(
          std::make_unique<PhraseLeaf>(segment, other.WordsIn(segment), scorer, query.average_length));
    }
  }
  scratch_.scores.fill(0);
  best_.scores.fill(0);
}

DocNumber SynonymsLeaf::NextAtLeast(DocNumber doc) {
  DocNumber first = kNoDoc;
  for (TermLeaf& word : typed_) first = std::min(first, word.NextAtLeast(doc));
  for (auto& other : others_) first = std::min(first, other->NextAtLeast(doc));
  return first;
}

void SynonymsLeaf::TakeBest(const WindowBits& held) {
  ForEachBit(held, [this](size_t at) {
    best_.scores[at] = std::max(best_.scores[at], scratch_.scores[at]);
    scratch_.scores[at] = 0;
  });
}

size_t SynonymsLeaf::Collect(Window* window, WindowBits* bits) {
  scratch_.begin = best_.begin = window->begin;
  scratch_.end = best_.end = window->end;
  size_t read = 0;
  // Every typed word that a document holds counts; whether it matches by them is another question.
  WindowBits scored{}, matched{};
  if (all_typed_ && typed_complete_) matched.fill(~uint64_t{0});
  for (TermLeaf& word : typed_) {
    WindowBits held{};
    read += word.Collect(&scratch_, &held);
    for (size_t i = 0; i < kWindowWords; ++i) {
      scored[i] |= held[i];
      matched[i] = all_typed_ ? matched[i] & held[i] : matched[i] | held[i];
    }
  }
  TakeBest(scored);
  for (auto& other : others_) {
    WindowBits held{};
    read += other->Collect(&scratch_, &held);
    TakeBest(held);
    for (size_t i = 0; i < kWindowWords; ++i) {
      scored[i] |= held[i];
      matched[i] |= held[i];
    }
  }
  ForEachBit(scored, [&](size_t at) {
    window->scores[at] += best_.scores[at];
    best_.scores[at] = 0;
  });
  for (size_t i = 0; i < kWindowWords; ++i) (*bits)[i] |= matched[i];
  return read;
}

}  // namespace waymark
