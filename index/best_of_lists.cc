#include "index/best_of_lists.h"

#include <algorithm>

namespace waymark {

BestOfLists::BestOfLists(const SegmentView& segment, const BoundQuery& query, size_t t) {
  lists_.reserve(query.variants[t].size());
  for (const BoundVariant& variant : query.variants[t]) {
    const TermIndex term = variant.found[segment.number];
    if (term == kNoTerm) continue;
    lists_.emplace_back(segment, term, Bm25Term{variant.weight, query.lengths}, query.average_length,
                        query.WeightsIn(segment, variant.scope));
  }
}

size_t BestOfLists::postings() const {
  size_t sum = 0;
  for (const ScoredList& list : lists_) sum += list.postings();
  return sum;
}

FixedScore BestOfLists::bound() const {
  FixedScore most = 0;
  for (const ScoredList& list : lists_) most = std::max(most, list.bound());
  return most;
}

size_t BestOfLists::TakeWork() {
  size_t work = 0;
  for (ScoredList& list : lists_) work += list.TakeWork();
  return work;
}

DocNumber BestOfLists::NextAtLeast(DocNumber doc) {
  DocNumber first = kNoDoc;
  for (ScoredList& list : lists_) first = std::min(first, list.NextAtLeast(doc));
  return first;
}

FixedScore BestOfLists::EnterWindow(DocNumber begin, DocNumber end) {
  FixedScore most = 0;
  for (ScoredList& list : lists_) most = std::max(most, list.EnterWindow(begin, end));
  return most;
}

ScoreWindow* BestOfLists::CollectBest(DocNumber begin, DocNumber end) {
  thread_local ScoreWindow best;
  best.begin = begin;
  best.end = end;
  for (ScoredList& list : lists_) list.AccumulateMost(&best);
  return &best;
}

void BestOfLists::Accumulate(ScoreWindow* window) {
  if (lists_.size() == 1) return lists_[0].Accumulate(window);
  ScoreWindow* best = CollectBest(window->begin, window->end);
  const size_t groups = (window->end - window->begin + 15) / 16;
  for (size_t group = 0; group < groups; ++group) {
    if (best->touched[group] == 0) continue;
    best->touched[group] = 0;
    window->touched[group] = 1;
    FixedScore* const from = best->sums.data() + group * 16;
    FixedScore* const to = window->sums.data() + group * 16;
    for (size_t i = 0; i < 16; ++i) to[i] += from[i], from[i] = 0;
  }
}

void BestOfLists::Append(DocNumber begin, DocNumber end, FixedScore least, Candidates* candidates) {
  // What is held scores at least 1. The window may be larger than a ScoreWindow, where documents are few.
  while ((begin = std::max(begin, NextAtLeast(begin))) < end) {
    const DocNumber stop = begin + std::min(end - begin, ScoreWindow::kLargest);
    CollectBest(begin, stop)->Take(std::max(least, 1), candidates);
    begin = stop;
  }
}

void BestOfLists::Add(FixedScore needed, FixedScore rest, Candidates* candidates) {
  Refine(needed, rest, /*required=*/false, candidates);
}

void BestOfLists::Require(FixedScore needed, FixedScore rest, Candidates* candidates) {
  Refine(needed, rest, /*required=*/true, candidates);
}

void BestOfLists::Refine(FixedScore needed, FixedScore rest, bool required, Candidates* candidates) {
  most_.assign(candidates->count, 0);
  // A member that is passed over for a document gives less than one that brings it to `needed`.
  for (ScoredList& list : lists_) list.RaiseTo(needed, rest, *candidates, most_.data());
  size_t kept = 0;
  for (size_t c = 0; c < candidates->count; ++c) {
    const FixedScore score = candidates->scores[c] + most_[c];
    if ((required && most_[c] == 0) || score + rest < needed) continue;
    candidates->docs[kept] = candidates->docs[c];
    candidates->scores[kept++] = score;
  }
  candidates->count = kept;
}

void BestOfLists::Exclude(Candidates* candidates) {
  for (ScoredList& list : lists_) list.Exclude(candidates);
}

void BestOfLists::Rewind() {
  for (ScoredList& list : lists_) list.Rewind();
}

ScoredList* BestOfLists::Greatest() {
  return &*std::max_element(lists_.begin(), lists_.end(),
                            [](const ScoredList& a, const ScoredList& b) { return a.bound() < b.bound(); });
}

}  // namespace waymark
