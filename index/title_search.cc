#include "index/title_search.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "index/hit_collector.h"
#include "index/word_places.h"

namespace waymark {
namespace {

struct TitleHit {
  float match;
  FixedScore score;
  ItemOrdinal item;
  bool operator<(const TitleHit& other) const {  // better
    return std::tuple(-match, -score, item) < std::tuple(-other.match, -other.score, other.item);
  }
};

bool Excludes(const QueryNode& node) {
  if (!node.must_not.empty()) return true;
  const auto excludes = [](const QueryNode& child) { return Excludes(child); };
  return std::any_of(node.must.begin(), node.must.end(), excludes) ||
         std::any_of(node.should.begin(), node.should.end(), excludes);
}

bool NamesField(const ParsedQuery& query) {
  return std::any_of(query.scopes.begin(), query.scopes.end(),
                     [](const QueryScope& scope) { return !scope.field.empty(); });
}

// The title words of one segment, the rarest leading.
class TitleWalk {
 public:
  TitleWalk(const SegmentView& segment, const BoundQuery& bound) : segment_(segment), places_(bound) {
    places_.Enter(segment);
    for (size_t t = 0; t < bound.query.terms.size(); ++t) {
      if (!bound.query.asked[t] || bound.query.aside[t]) continue;
      auto word = WordCursor::Make(segment, bound, t);
      complete_ = complete_ && word.has_value();
      if (word) words_.push_back(*std::move(word));
    }
    std::sort(words_.begin(), words_.end(),
              [](const WordCursor& a, const WordCursor& b) { return a.postings() < b.postings(); });
  }

  // False: the deadline came.
  bool Run(size_t* postings_left, HitCollector* may_show, std::vector<TitleHit>* hits) {
    if (!complete_ || words_.empty() || segment_.title < 0) return true;
    const auto title = static_cast<uint32_t>(segment_.title);
    for (DocNumber doc = 0; *postings_left > 0; ++doc) {
      doc = words_[0].Advance(doc);
      if (doc == kNoDoc) return true;
      --*postings_left;
      if (!may_show->Spend(words_.size())) return false;
      const bool all = std::all_of(words_.begin(), words_.end(), [&](WordCursor& word) {
        return (&word == &words_[0] || word.Advance(doc) == doc) && word.HeldIn(title);
      });
      if (!all || !may_show->MayShow(doc)) continue;
      places_.Read(doc);
      const FixedScore score = std::accumulate(words_.begin(), words_.end(), FixedScore{0},
                                               [](FixedScore sum, WordCursor& w) { return sum + w.Score(); });
      hits->push_back({places_.TitleMatch(), score, segment_.postings->ordinal(doc)});
    }
    return true;
  }

 private:
  const SegmentView& segment_;
  WordPlaces places_;
  std::vector<WordCursor> words_;  // the rarest first
  bool complete_ = true;           // the segment has something of each
};

}  // namespace

std::vector<ScoredItem> SearchTitles(const IndexSnapshot& snapshot, const SnapshotQuery& query,
                                     const Bm25Options& bm25, size_t limit, Deadline deadline) {
  const BoundQuery bound = BindQuery(ParseFor(snapshot, query), snapshot, bm25, deadline, query.typos);
  const ParsedQuery& parsed = bound.query;
  if (!parsed.root || !bound.complete || !parsed.phrases.empty() || Excludes(*parsed.root)) return {};
  if (!parsed.items.empty() || NamesField(parsed)) return {};
  if (parsed.sequence.size() > kMaxPlacedWords) return {};
  HitCollector may_show(query, 0, deadline);
  std::vector<TitleHit> hits;
  size_t postings_left = kMaxTitlePostings;
  for (const SegmentView& segment : snapshot.segments) {
    may_show.Enter(segment);
    if (!TitleWalk(segment, bound).Run(&postings_left, &may_show, &hits)) break;
  }
  const size_t keep = std::min(limit, hits.size());
  std::partial_sort(hits.begin(), hits.begin() + keep, hits.end());
  std::vector<ScoredItem> found;
  for (size_t i = 0; i < keep; ++i) found.push_back({hits[i].item, bound.Score(hits[i].score)});
  return found;
}

}  // namespace waymark
