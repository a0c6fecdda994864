#include "index/exhaustive_search.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <memory>

#include "index/segment_search.h"

namespace waymark {
namespace {

void OfferMatches(const Window& window, const WindowBits& matches, HitCollector* hits) {
  const FixedScore needed = hits->counts_all() ? 0 : hits->NeededFrom(window.begin);
  for (size_t word = 0; word < kWindowWords; ++word) {
    for (uint64_t bits = matches[word]; bits != 0; bits &= bits - 1) {
      const DocNumber at = static_cast<DocNumber>(word * 64 + std::countr_zero(bits));
      if (window.scores[at] >= needed) hits->Offer(window.begin + at, window.scores[at]);
    }
  }
}

}  // namespace

bool ExhaustiveSearch::Serves(const BoundQuery&, const HitCollector&) { return true; }

bool ExhaustiveSearch::Run(const BoundQuery& query, const SegmentView& segment, HitCollector* hits) {
  SegmentSearch search(segment, query);
  const DocNumber documents = segment.postings->doc_count();
  const std::function<bool(size_t)> spend = [hits](size_t postings) { return hits->Spend(postings); };
  const auto window = std::make_unique<Window>();
  for (DocNumber doc = search.NextAtLeast(0); doc < documents; doc = search.NextAtLeast(window->end)) {
    window->begin = doc & ~DocNumber{63};
    window->end = std::min(window->begin + kWindowSize, documents);
    WindowBits matches;
    if (!hits->Spend(kWindowWords) || !search.Collect(window.get(), &matches, spend)) return false;
    OfferMatches(*window, matches, hits);
  }
  return true;
}

}  // namespace waymark
