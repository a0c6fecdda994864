// A word of a query that stands for several terms: documents that hold one of them, each with the score of
// the term that gives it most.
//
// Not thread-safe: leaves belong to one search.
#pragma once
#include <vector>

#include "index/bound_query.h"
#include "index/query_leaf.h"

namespace waymark {

class VariantsLeaf : public QueryLeaf {
 public:
  // t: into ParsedQuery::terms.
  VariantsLeaf(const SegmentView& segment, const BoundQuery& query, size_t t);
  // Whether the segment has one of the terms.
  bool HasTerms() const { return !terms_.empty() || !pairs_.empty(); }
  DocNumber NextAtLeast(DocNumber doc) override;
  size_t Collect(Window* window, WindowBits* bits) override;

 private:
  // Scores of pair_ where `held` go into best_ as far as they are better, and to 0.
  void TakeBest(const WindowBits& held);

  std::vector<TermLeaf> terms_;
  std::vector<PhraseLeaf> pairs_;  // of words that stand for two
  Window best_, pair_;             // scores are 0 between calls
};

}  // namespace waymark
