// What a search gathers: the best items that may be shown, how many match, and how long it may go on.
//
// Not thread-safe: belongs to one search.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "candidates/deadline.h"
#include "catalog/item_set.h"
#include "index/index_snapshot.h"
#include "index/snapshot_query.h"
#include "index/top_scores.h"

namespace waymark {

class HitCollector {
 public:
  HitCollector(const SnapshotQuery& query, size_t limit, Deadline deadline)
      : query_(query), count_up_to_(query.count_up_to), top_(limit), deadline_(deadline) {}

  // Whether every match must be offered, so that they are counted. What has become false stays so.
  bool counts_all() const { return count_up_to_ > 0 && seen_ <= count_up_to_; }
  // More match than are to be counted.
  void StopCounting() { count_up_to_ = kCountNone; }
  // Whether seen() are all that match: as long as the best are fewer than are wanted, none is passed over.
  bool saw_all() const { return counts_all() || seen_ < static_cast<int64_t>(top_.limit()); }
  // Whether every live document may be shown, and none is kept beside the best.
  bool shows_all() const {
    return !query_.all_matches && query_.allowed == nullptr && query_.live == nullptr &&
           query_.excluded.empty();
  }

  // Before a segment is searched.
  void Enter(const SegmentView& segment) { segment_ = &segment; }
  // What a document from `doc` on needs to score to be among the best; 0 as long as any does.
  FixedScore NeededFrom(DocNumber doc) const {
    // In order of ordinals, what comes later loses every tie.
    return top_.NeededFrom(segment_->postings->in_order() ? segment_->postings->ordinal(doc) : 0);
  }
  // Whether a document that matches is a hit.
  bool MayShow(DocNumber doc) const {
    return segment_->live->Contains(doc) && (shows_all() || MayShowItem(segment_->postings->ordinal(doc)));
  }
  // Documents that match, in order; they may be deleted.
  void OfferAll(const DocNumber* docs, const FixedScore* scores, size_t count) {
    // What a document needs is read from far apart.
    constexpr size_t kAhead = 16;
    const FixedScore needed = count == 0 || counts_all() ? 0 : NeededFrom(docs[0]);
    for (size_t i = 0; i < count; ++i) {
      if (i + kAhead < count && scores[i + kAhead] >= needed) {
        __builtin_prefetch(segment_->postings->ordinal_address(docs[i + kAhead]));
      }
      if (scores[i] >= needed && (scores[i] >= top_.NeededFrom(0) || counts_all())) Offer(docs[i], scores[i]);
    }
  }
  // A document that matches; it may be deleted.
  void Offer(DocNumber doc, FixedScore score) {
    if (!segment_->live->Contains(doc)) return;
    const ItemOrdinal item = segment_->postings->ordinal(doc);
    if (!shows_all()) {
      if (!MayMatch(item)) return;
      if (query_.all_matches) matches_.emplace_back(score, item);
      if (query_.allowed != nullptr && !query_.allowed->Contains(item)) return;
    }
    ++seen_;
    top_.Offer(score, item);
  }
  // Matches that are known of without having been offered.
  void AddSeen(int64_t matches) { seen_ += matches; }
  int64_t seen() const { return seen_; }
  // In no order: those that live and are not excluded, whatever is allowed; when the query asks for all.
  const std::vector<std::pair<FixedScore, ItemOrdinal>>& matches() const { return matches_; }

  // Called inside all loops. False: the deadline came.
  bool Spend(size_t postings) {
    spent_ += postings;
    if (spent_ < kPostingsPerLook) return true;
    spent_ = 0;
    return !deadline_.Expired();
  }

  TopScores& top() { return top_; }
  const TopScores& top() const { return top_; }

 private:
  static constexpr size_t kPostingsPerLook = 1 << 14;  // about 20 us

  bool MayShowItem(ItemOrdinal item) const {
    return MayMatch(item) && (query_.allowed == nullptr || query_.allowed->Contains(item));
  }
  bool MayMatch(ItemOrdinal item) const {
    return (query_.live == nullptr || query_.live->Contains(item)) &&
           !std::binary_search(query_.excluded.begin(), query_.excluded.end(), item);
  }

  const SnapshotQuery& query_;
  int64_t count_up_to_;
  const SegmentView* segment_ = nullptr;
  TopScores top_;
  Deadline deadline_;
  std::vector<std::pair<FixedScore, ItemOrdinal>> matches_;
  int64_t seen_ = 0;
  size_t spent_ = 0;  // since the last look at the clock
};

}  // namespace waymark
