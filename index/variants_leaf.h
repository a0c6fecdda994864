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
  VariantsLeaf(const SegmentView& segment, const std::vector<BoundVariant>& variants,
               const Bm25Lengths& lengths);
  // Whether the segment has one of the terms.
  bool HasTerms() const { return !terms_.empty(); }
  DocNumber NextAtLeast(DocNumber doc) override;
  size_t Collect(Window* window, WindowBits* bits) override;

 private:
  std::vector<TermLeaf> terms_;
  Window best_;  // scores are 0 between calls
};

}  // namespace waymark
