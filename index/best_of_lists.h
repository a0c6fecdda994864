// A word of a query that stands for several terms (typing errors, beginnings, a term in the fields of each
// analysis), as one list of scores: a document has the most that one of its terms gives.
//
// Not thread-safe: lists belong to one search.
#pragma once
#include <vector>

#include "index/bound_query.h"
#include "index/scored_list.h"

namespace waymark {

// As ScoredList, which its members are.
class BestOfLists {
 public:
  // t: into ParsedQuery::terms; none of its variants may be two words.
  BestOfLists(const SegmentView& segment, const BoundQuery& query, size_t t);

  // False: the segment has none of the terms.
  bool HasTerms() const { return !lists_.empty(); }
  size_t postings() const;
  FixedScore bound() const;
  size_t TakeWork();
  DocNumber NextAtLeast(DocNumber doc);
  FixedScore EnterWindow(DocNumber begin, DocNumber end);
  void Accumulate(ScoreWindow* window);
  void Append(DocNumber begin, DocNumber end, FixedScore least, Candidates* candidates);
  void Add(FixedScore needed, FixedScore rest, Candidates* candidates);
  void Require(FixedScore needed, FixedScore rest, Candidates* candidates);
  void Exclude(Candidates* candidates);
  void Rewind();
  // The member that can give most: what it gives, the word gives at least.
  ScoredList* Greatest();

 private:
  // The best of a window's documents, in a scratch of the thread's.
  ScoreWindow* CollectBest(DocNumber begin, DocNumber end);
  void Refine(FixedScore needed, FixedScore rest, bool required, Candidates* candidates);

  std::vector<ScoredList> lists_;
  std::vector<FixedScore> most_;  // [candidates]
};

}  // namespace waymark
