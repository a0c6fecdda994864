#include "index/conjunction.h"

#include <algorithm>

#include "index/word_list.h"

namespace waymark {
namespace {

// Of the rarest word, in a window.
constexpr size_t kConjunctionWindow = 1024;

class ConjunctionRun {
 public:
  ConjunctionRun(const BoundQuery& query, const SegmentView& segment, HitCollector* hits)
      : hits_(hits), documents_(segment.postings->doc_count()) {
    const auto make = [&](const std::vector<uint32_t>& terms, std::vector<WordList>* lists) {
      for (uint32_t t : terms) WordList::AppendTo(segment, query, t, lists);
    };
    make(query.flat->must, &must_);
    make(query.flat->should, &should_);
    make(query.flat->must_not, &excluded_);
    complete_ = must_.size() == query.flat->must.size();
    for (WordList& list : must_) order_.push_back(&list);
    std::sort(order_.begin(), order_.end(),
              [](const WordList* a, const WordList* b) { return a->postings() < b->postings(); });
    for (WordList& list : should_) order_.push_back(&list);
    rest_.resize(order_.size() + 1);
  }

  bool Run() {
    if (!complete_) return true;
    const uint64_t wanted =
        uint64_t{kConjunctionWindow} * documents_ / std::max<size_t>(order_[0]->postings(), 1);
    const auto window = static_cast<DocNumber>(std::clamp<uint64_t>(wanted, 1024, documents_));
    for (DocNumber begin = 0; begin < documents_;) {
      begin = std::max(begin, order_[0]->NextAtLeast(begin));
      if (begin >= documents_) return true;
      const DocNumber end = begin + std::min(window, documents_ - begin);
      SearchWindow(begin, end);
      if (!hits_->Spend(TakeWork())) return false;
      begin = end;
    }
    return true;
  }

 private:
  void SearchWindow(DocNumber begin, DocNumber end) {
    // Where all are counted, none may be passed over.
    const FixedScore needed = hits_->counts_all() ? 0 : hits_->NeededFrom(begin);
    rest_[order_.size()] = 0;
    for (size_t i = order_.size(); i-- > 0;) {
      const FixedScore bound = order_[i]->EnterWindow(begin, end);
      if (bound == 0 && i < must_.size()) return;
      rest_[i] = rest_[i + 1] + bound;
    }
    if (rest_[0] < needed) return;
    candidates_.count = 0;
    order_[0]->Append(begin, end, std::max(needed - rest_[1], 0), &candidates_);
    for (size_t i = 1; i < order_.size() && candidates_.count > 0; ++i) {
      if (i < must_.size()) {
        order_[i]->Require(needed, rest_[i + 1], &candidates_);
      } else {
        order_[i]->Add(needed, rest_[i + 1], &candidates_);
      }
    }
    for (WordList& list : excluded_) list.Exclude(&candidates_);
    hits_->OfferAll(candidates_.docs.data(), candidates_.scores.data(), candidates_.count);
  }

  size_t TakeWork() {
    size_t work = 64;
    for (auto* lists : {&must_, &should_, &excluded_}) {
      for (WordList& list : *lists) work += list.TakeWork();
    }
    return work;
  }

  HitCollector* hits_;
  const DocNumber documents_;
  std::vector<WordList> must_, should_, excluded_;
  std::vector<WordList*> order_;  // must, the rarest first, then should
  std::vector<FixedScore> rest_;  // [order_ + 1]: what the lists from there on add at most
  bool complete_ = false;         // the segment has all words that must be held
  Candidates candidates_;
};

}  // namespace

bool Conjunction::Serves(const BoundQuery& query, const HitCollector&) {
  return query.flat && !query.flat->must.empty();
}

bool Conjunction::Run(const BoundQuery& query, const SegmentView& segment, HitCollector* hits) {
  return ConjunctionRun(query, segment, hits).Run();
}

}  // namespace waymark
