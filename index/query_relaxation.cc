#include "index/query_relaxation.h"

#include <algorithm>

namespace waymark {
namespace {

// That hold what the term stands for, about: some may hold several of the words that it stands for.
int64_t HoldersOf(const BoundQuery& bound, const IndexSnapshot& snapshot, uint32_t t) {
  int64_t holders = 0;
  for (const SegmentView& segment : snapshot.segments) {
    if (!bound.StandsForSeveral(t)) {
      if (const auto term = bound.Find(segment, t)) holders += segment.live->document_count(*term);
      continue;
    }
    for (const BoundVariant& variant : bound.variants[t]) {
      const TermIndex term = variant.found[segment.number];
      if (term != kNoTerm) holders += segment.live->document_count(term);
    }
  }
  return holders;
}

}  // namespace

std::optional<std::string> NextLeftOut(const BoundQuery& bound, const IndexSnapshot& snapshot) {
  const auto& wanted = bound.query.wanted;
  const bool alone = std::all_of(wanted.begin(), wanted.end(),
                                 [&](const auto& word) { return word.text == wanted.front().text; });
  if (alone) return std::nullopt;
  const ParsedQuery::WantedWord* least = nullptr;
  int64_t most = -1;
  for (const ParsedQuery::WantedWord& word : wanted) {
    // Of several terms, all are wanted.
    int64_t holders = snapshot.documents + 1;
    for (const uint32_t term : word.terms) holders = std::min(holders, HoldersOf(bound, snapshot, term));
    if (holders == 0) return word.text;
    if (holders > most) most = holders, least = &word;
  }
  return least->text;
}

}  // namespace waymark
