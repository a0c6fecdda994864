#include "index/snapshot_search.h"

#include <algorithm>
#include <bit>

#include "index/segment_search.h"
#include "index/top_items.h"

namespace waymark {
namespace {

// Between two looks at the clock.
constexpr size_t kPostingsPerLook = 4096;

class SnapshotSearch {
 public:
  SnapshotSearch(const SnapshotQuery& query, size_t limit, Deadline deadline)
      : query_(query), top_(limit), deadline_(deadline) {}

  // False: the deadline came.
  bool Run(const SegmentView& segment, const BoundQuery& bound) {
    if (deadline_.Expired()) return false;
    SegmentSearch search(segment, bound);
    const DocNumber documents = segment.postings->doc_count();
    const std::function<bool(size_t)> spend = [this](size_t postings) { return Spend(postings); };
    for (DocNumber doc = search.NextAtLeast(0); doc < documents; doc = search.NextAtLeast(window_.end)) {
      window_.begin = doc & ~DocNumber{63};
      window_.end = std::min(window_.begin + kWindowSize, documents);
      WindowBits matches;
      if (!Spend(kWindowWords) || !search.Collect(&window_, &matches, spend)) return false;
      TakeMatches(*segment.postings, matches);
    }
    return true;
  }

  int64_t total() const { return total_; }
  std::vector<ScoredItem> Take() { return top_.Take(); }

 private:
  bool Spend(size_t postings) {
    spent_ += postings;
    if (spent_ < kPostingsPerLook) return true;
    spent_ = 0;
    return !deadline_.Expired();
  }

  void TakeMatches(const CompiledSegment& postings, const WindowBits& matches) {
    for (size_t word = 0; word < kWindowWords; ++word) {
      for (uint64_t bits = matches[word]; bits != 0; bits &= bits - 1) {
        const DocNumber at = static_cast<DocNumber>(word * 64 + std::countr_zero(bits));
        const ItemOrdinal item = postings.ordinal(window_.begin + at);
        if (!MayShow(item)) continue;
        ++total_;
        top_.Offer({item, window_.scores[at]});
      }
    }
  }

  bool MayShow(ItemOrdinal item) const {
    return (query_.live == nullptr || query_.live->Contains(item)) &&
           (query_.allowed == nullptr || query_.allowed->Contains(item)) &&
           !std::binary_search(query_.excluded.begin(), query_.excluded.end(), item);
  }

  const SnapshotQuery& query_;
  TopItems top_;
  Deadline deadline_;
  Window window_;
  int64_t total_ = 0;
  size_t spent_ = 0;  // since the last look
};

}  // namespace

KeywordHits SearchSnapshot(const IndexSnapshot& snapshot, const SnapshotQuery& query, const Bm25Options& bm25,
                           size_t limit, Deadline deadline) {
  KeywordHits hits;
  const BoundQuery bound =
      BindQuery(ParseQuery(query.text, snapshot.analyzer, query.match_all), snapshot, bm25, deadline);
  if (!bound.query.root) return hits;
  SnapshotSearch search(query, limit, deadline);
  hits.complete = bound.complete;
  for (size_t i = 0; i < snapshot.segments.size() && hits.complete; ++i) {
    hits.complete = search.Run(snapshot.segments[i], bound);
  }
  hits.total = search.total();
  hits.total_exact = hits.complete;
  hits.items = search.Take();
  return hits;
}

}  // namespace waymark
