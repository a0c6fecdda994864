// The scores that one word of a query gives in one segment: of one term, or the best of several.
//
//   WordList::AppendTo(segment, query, t, &lists);   // none where the segment has nothing of it
//
// Not thread-safe: lists belong to one search.
#pragma once
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "index/best_of_lists.h"
#include "index/bound_query.h"
#include "index/scored_list.h"

namespace waymark {

// What the functions do is said in index/scored_list.h.
class WordList {
 public:
  // False: the segment has nothing of the word.
  static bool AppendTo(const SegmentView& segment, const BoundQuery& query, uint32_t t,
                       std::vector<WordList>* lists) {
    if (query.StandsForSeveral(t)) {
      auto several = std::make_unique<BestOfLists>(segment, query, t);
      if (!several->HasTerms()) return false;
      lists->emplace_back().several_ = std::move(several);
      return true;
    }
    const auto term = query.Find(segment, t);
    if (!term) return false;
    lists->emplace_back().one_.emplace(segment, *term, query.Term(t), query.average_length);
    return true;
  }

  bool is_one() const { return one_.has_value(); }
  // The word's only list, or the one that can give most of it.
  ScoredList* greatest() { return one_ ? &*one_ : several_->Greatest(); }

  size_t postings() const { return one_ ? one_->postings() : several_->postings(); }
  FixedScore bound() const { return one_ ? one_->bound() : several_->bound(); }
  size_t TakeWork() { return one_ ? one_->TakeWork() : several_->TakeWork(); }
  DocNumber NextAtLeast(DocNumber doc) { return one_ ? one_->NextAtLeast(doc) : several_->NextAtLeast(doc); }
  FixedScore EnterWindow(DocNumber begin, DocNumber end) {
    return one_ ? one_->EnterWindow(begin, end) : several_->EnterWindow(begin, end);
  }
  void Accumulate(ScoreWindow* window) { one_ ? one_->Accumulate(window) : several_->Accumulate(window); }
  void Append(DocNumber begin, DocNumber end, FixedScore least, Candidates* candidates) {
    one_ ? one_->Append(begin, end, least, candidates) : several_->Append(begin, end, least, candidates);
  }
  void Add(FixedScore needed, FixedScore rest, Candidates* candidates) {
    one_ ? one_->Add(needed, rest, candidates) : several_->Add(needed, rest, candidates);
  }
  void Require(FixedScore needed, FixedScore rest, Candidates* candidates) {
    one_ ? one_->Require(needed, rest, candidates) : several_->Require(needed, rest, candidates);
  }
  void Exclude(Candidates* candidates) { one_ ? one_->Exclude(candidates) : several_->Exclude(candidates); }
  void Rewind() { one_ ? one_->Rewind() : several_->Rewind(); }

 private:
  std::optional<ScoredList> one_;
  std::unique_ptr<BestOfLists> several_;  // of the two
};

}  // namespace waymark
