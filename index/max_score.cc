#include "index/max_score.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "index/posting_kernels.h"
#include "index/word_list.h"

namespace waymark {
namespace {

// Postings of the lists that put documents forward, in a window.
constexpr size_t kPostingsPerWindow = 2048;
constexpr DocNumber kSmallestWindow = 4096;
// The first window, which no score bounds yet, and by how much others may grow beyond the one before.
constexpr DocNumber kFirstWindow = 1024;
constexpr DocNumber kGrowth = 2;
// After this share of the documents, what a document will need in the end is guessed from what was found. The
// guess is checked at the end, and what it passed over is searched again where it was too high.
constexpr DocNumber kSample = 32;
constexpr DocNumber kFewestToGuess = 1 << 16;
// For few items, a score that is reached for sure is sought before: in that many blocks.
constexpr size_t kMostToSeed = 100, kSeedBlocks = 2;

struct Scratch {
  ScoreWindow window;
  Candidates candidates;
};

class Search {
 public:
  // `known`: matches need not be offered to be counted.
  Search(const BoundQuery& query, const SegmentView& segment, HitCollector* hits, bool known)
      : hits_(hits), known_(known), documents_(segment.postings->doc_count()) {
    lists_.reserve(query.flat->should.size());  // a list holds its decoded block
    for (uint32_t t : query.flat->should) WordList::AppendTo(segment, query, t, &lists_);
    for (uint32_t t : query.flat->must_not) WordList::AppendTo(segment, query, t, &excluded_);
    for (WordList& list : lists_) order_.push_back(&list);
    std::sort(order_.begin(), order_.end(),
              [](const WordList* a, const WordList* b) { return a->bound() > b->bound(); });
    rest_.resize(order_.size() + 1);
    bounds_.resize(order_.size());
  }

  // Only documents from `first` on that score less than `ceiling`.
  void Restrict(DocNumber first, FixedScore ceiling) {
    first_ = first;
    ceiling_ = ceiling;
  }

  bool Run(bool may_guess) {
    if (first_ == 0 && !Counts() && excluded_.empty() && hits_->top().limit() <= kMostToSeed) {
      if (order_.size() == 1 && order_[0]->is_one()) return RunOneList(order_[0]->greatest());
      seed_ = Seed();
    }
    for (DocNumber begin = first_; begin < documents_;) {
      const bool counts = Counts();
      if (may_guess && !counts && begin > documents_ / kSample) {
        may_guess = false;
        Guess(begin);
      }
      const FixedScore needed = counts ? 0 : std::max({hits_->NeededFrom(begin), guess_, seed_});
      for (size_t i = 0; i < order_.size(); ++i) bounds_[i] = order_[i]->bound();
      const size_t forward = CountForward(needed);
      if (forward == 0) return true;
      DocNumber next = kNoDoc;
      size_t postings = 0;
      for (size_t i = 0; i < forward; ++i) {
        next = std::min(next, order_[i]->NextAtLeast(begin));
        postings += order_[i]->postings();
      }
      if (next >= documents_) return true;
      begin = next & ~DocNumber{63};
      size_ = std::min(size_ * kGrowth, WindowSize(postings));
      const DocNumber end = begin + std::min(size_, documents_ - begin);
      SearchWindow(begin, end, needed);
      if (!hits_->Spend(TakeWork())) return false;
      begin = end;
    }
    return true;
  }

  // What was taken for the score that a document needs, and from which document on.
  FixedScore guess() const { return guess_; }
  DocNumber guessed_at() const { return guessed_at_; }

 private:
  static constexpr FixedScore kNoCeiling = std::numeric_limits<FixedScore>::max();

  bool Counts() const { return !known_ && hits_->counts_all(); }

  // Of bounds_: fills rest_, which at i is what the lists from i on add at most, and answers how many lists
  // must put their documents forward.
  size_t CountForward(FixedScore needed) {
    rest_[order_.size()] = 0;
    for (size_t i = order_.size(); i-- > 0;) rest_[i] = rest_[i + 1] + bounds_[i];
    size_t forward = 0;
    while (forward < order_.size() && rest_[forward] >= std::max(needed, 1)) ++forward;
    return forward;
  }

  DocNumber WindowSize(size_t postings) const {
    const uint64_t wanted = uint64_t{kPostingsPerWindow} * documents_ / std::max<size_t>(postings, 1);
    return static_cast<DocNumber>(
        std::clamp<uint64_t>(std::bit_floor(wanted), kSmallestWindow, ScoreWindow::kLargest));
  }

  void SearchWindow(DocNumber begin, DocNumber end, FixedScore needed) {
    for (size_t i = 0; i < order_.size(); ++i) bounds_[i] = order_[i]->EnterWindow(begin, end);
    const size_t forward = CountForward(needed);
    if (forward == 0) return;
    Candidates& candidates = scratch_.candidates;
    candidates.count = 0;
    const FixedScore least = std::max(needed - rest_[forward], 1);
    if (forward == 1) {
      order_[0]->Append(begin, end, least, &candidates);
    } else {
      scratch_.window.begin = begin;
      scratch_.window.end = end;
      for (size_t i = 0; i < forward; ++i) order_[i]->Accumulate(&scratch_.window);
      scratch_.window.Take(least, &candidates);
    }
    for (size_t i = forward; i < order_.size() && candidates.count > 0; ++i) {
      if (bounds_[i] > 0) order_[i]->Add(needed, rest_[i + 1], &candidates);
    }
    for (WordList& list : excluded_) list.Exclude(&candidates);
    if (ceiling_ != kNoCeiling) {
      size_t kept = 0;
      for (size_t c = 0; c < candidates.count; ++c) {
        candidates.docs[kept] = candidates.docs[c];
        candidates.scores[kept] = candidates.scores[c];
        kept += candidates.scores[c] < ceiling_;
      }
      candidates.count = kept;
    }
    hits_->OfferAll(candidates.docs.data(), candidates.scores.data(), candidates.count);
  }

  // One list, its best blocks first, so that most others need not be read.
  bool RunOneList(ScoredList* list) {
    Candidates& candidates = scratch_.candidates;
    const std::vector<size_t> best = list->BestBlocks(kSeedBlocks);
    const auto offer = [&](size_t block) {
      candidates.count = 0;
      list->AppendBlock(block, std::max(hits_->NeededFrom(0), 1), &candidates);
      hits_->OfferAll(candidates.docs.data(), candidates.scores.data(), candidates.count);
    };
    for (size_t block : best) offer(block);
    const size_t blocks = list->block_count();
    for (size_t block = list->NextBlock(0, hits_->NeededFrom(0)); block < blocks;
         block = list->NextBlock(block + 1, hits_->NeededFrom(0))) {
      if (std::find(best.begin(), best.end(), block) != best.end()) continue;
      offer(block);
      if (!hits_->Spend(TakeWork())) return false;
    }
    return true;
  }

  // A score that as many documents reach as are wanted: those of the list of the greatest bound that score
  // best by it alone. 0: there are not as many.
  FixedScore Seed() {
    if (order_.empty()) return 0;
    Candidates& candidates = scratch_.candidates;
    candidates.count = 0;
    ScoredList* const first = order_[0]->greatest();
    for (size_t block : first->BestBlocks(kSeedBlocks)) first->AppendBlock(block, 1, &candidates);
    const size_t limit = hits_->top().limit(), wanted = 2 * limit + 8;
    if (candidates.count > wanted) {
      std::vector<FixedScore> scores(candidates.scores.begin(), candidates.scores.begin() + candidates.count);
      std::nth_element(scores.begin(), scores.begin() + wanted, scores.end(), std::greater<>());
      candidates.count = KeepAtLeast(scores[wanted], candidates.docs.data(), candidates.scores.data(),
                                     candidates.count, candidates.docs.data(), candidates.scores.data());
      candidates.count = std::min(candidates.count, 2 * wanted);
    }
    for (size_t i = 1; i < order_.size(); ++i) order_[i]->Add(0, 0, &candidates);
    TopScores best(limit);
    for (size_t c = 0; c < candidates.count; ++c) {
      if (hits_->MayShow(candidates.docs[c])) best.Offer(candidates.scores[c], 0);
    }
    for (WordList* list : order_) list->Rewind();
    return best.ScoreOfRank(limit);
  }

  void Guess(DocNumber begin) {
    const double share = static_cast<double>(begin) / documents_;
    const double expected = share * static_cast<double>(hits_->top().limit());
    guess_ = hits_->top().ScoreOfRank(static_cast<size_t>(expected + 4 * std::sqrt(expected) + 4));
    guessed_at_ = begin;
  }

  size_t TakeWork() {
    size_t work = 64;
    for (WordList& list : lists_) work += list.TakeWork();
    for (WordList& list : excluded_) work += list.TakeWork();
    return work;
  }

  static Scratch& ThreadScratch() {
    thread_local Scratch scratch;
    return scratch;
  }

  HitCollector* hits_;
  const bool known_;
  const DocNumber documents_;
  DocNumber first_ = 0, guessed_at_ = 0;
  FixedScore ceiling_ = kNoCeiling, guess_ = 0, seed_ = 0;
  std::vector<WordList> lists_, excluded_;
  DocNumber size_ = kFirstWindow / kGrowth;  // of the last window
  std::vector<WordList*> order_;             // by bound, the greatest first
  std::vector<FixedScore> bounds_;           // [order_], of the window
  std::vector<FixedScore> rest_;             // [order_ + 1]
  Scratch& scratch_ = ThreadScratch();
};

}  // namespace

bool MaxScore::Serves(const BoundQuery& query, const HitCollector&) {
  return query.flat && query.flat->must.empty();
}

bool MaxScore::KnowsTotal(const BoundQuery& query, const HitCollector& hits) {
  return query.flat && query.flat->must.empty() && query.flat->should.size() == 1 &&
         query.flat->must_not.empty() && hits.shows_all() && !query.StandsForSeveral(query.flat->should[0]);
}

int64_t MaxScore::LeastMatches(const BoundQuery& query, const SegmentView& segment,
                               const HitCollector& hits) {
  if (!Serves(query, hits) || !hits.shows_all() || !query.flat->must_not.empty()) return 0;
  int64_t most = 0;
  const auto count = [&](TermIndex term) {
    if (term != kNoTerm) most = std::max<int64_t>(most, segment.live->document_count(term));
  };
  for (uint32_t t : query.flat->should) {
    if (!query.StandsForSeveral(t)) count(query.found_terms[segment.number][t]);
    // Of documents that hold a term, some may hold it in fields where it does not count.
    for (const BoundVariant& variant : query.variants[t]) {
      if (variant.scope == 0) count(variant.found[segment.number]);
    }
  }
  return most;
}

bool MaxScore::Run(const BoundQuery& query, const SegmentView& segment, HitCollector* hits) {
  const int64_t before = hits->seen();
  const bool known = KnowsTotal(query, *hits);
  Search search(query, segment, hits, known);
  if (!search.Run(before == 0 && segment.postings->doc_count() >= kFewestToGuess)) return false;
  if (search.guess() > hits->top().NeededFrom(0)) {
    Search again(query, segment, hits, known);
    again.Restrict(search.guessed_at(), search.guess());
    if (!again.Run(false)) return false;
  }
  // A pruned search sees few of its matches.
  hits->AddSeen(std::max<int64_t>(0, LeastMatches(query, segment, *hits) - (hits->seen() - before)));
  return true;
}

}  // namespace waymark
