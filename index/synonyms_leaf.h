// A place of a query that synonyms widen, in one segment: documents that hold the typed words or one of the
// others, each with the best of what the typed words give together and what each other gives.
//
// Not thread-safe: leaves belong to one search.
#pragma once
#include <memory>
#include <vector>

#include "index/bound_query.h"
#include "index/query_leaf.h"

namespace waymark {

class SynonymsLeaf : public QueryLeaf {
 public:
  // place: into ParsedQuery::synonyms.
  SynonymsLeaf(const SegmentView& segment, const BoundQuery& query, size_t place);
  DocNumber NextAtLeast(DocNumber doc) override;
  size_t Collect(Window* window, WindowBits* bits) override;

 private:
  // Scores of scratch_ where `held` go into best_ as far as they are better, and to 0.
  void TakeBest(const WindowBits& held);

  bool all_typed_;              // the typed words match together only
  bool typed_complete_ = true;  // the segment has all of them
  std::vector<TermLeaf> typed_;
  std::vector<std::unique_ptr<QueryLeaf>> others_;
  Window scratch_, best_;  // scores are 0 between calls
};

}  // namespace waymark
