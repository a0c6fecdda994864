// How good recommendations are: one held-out item for each user, the whole catalogue ranked.
//
// Ties get the middle rank: an item with b better and t other items of the same score has rank 1 + b + t / 2.
// So a scorer that gives everything the same score gains nothing, and the order of ids has no say.
//
//   RecommendMetrics metrics(10, items);
//   metrics.AddRank(MiddleRank(scores, target));
//   metrics.AddList(top_ten, counts);
//   printf("HR@10 %.4f nDCG@10 %.4f", metrics.hit_rate(), metrics.ndcg());
#pragma once
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"

namespace waymark {

// Rank of `target` by falling score, from 1. Scores of -infinity are out of the ranking (masked).
double MiddleRank(absl::Span<const float> scores, size_t target);

// With one relevant item: 1 when its rank is at most k, else 0 (hit rate, which is recall then).
double HitAt(double rank, size_t k);
// With one relevant item the ideal DCG is 1, so nDCG@k = 1 / log2(1 + rank) for a rank of at most k, else 0
// (Jarvelin and Kekalainen 2002; as used by He et al., "Neural Collaborative Filtering", WWW '17).
double NdcgAtRank(double rank, size_t k);

// Self-information of an item that `users_of_item` of `users` users have met, in bits: -log2(share) (Zhou et
// al., "Solving the apparent diversity-accuracy dilemma of recommender systems", PNAS 107(10), 2010).
// Nobody's items count as if one user had met them.
double SelfInformation(uint64_t users_of_item, uint64_t users);

// Sums over users.
class RecommendMetrics {
 public:
  // `catalogue`: how many items could have been shown.
  RecommendMetrics(size_t k, size_t catalogue) : k_(k), catalogue_(catalogue) {}

  // One user's held-out item; infinity: it could not be found at all.
  void AddRank(double rank);
  // One user's list, best first; its first k items count. `users_of`: users that have met each item of the
  // list, `users`: all of them.
  void AddList(absl::Span<const uint32_t> list, absl::Span<const uint64_t> users_of, uint64_t users);

  size_t k() const { return k_; }
  uint64_t users() const { return users_; }
  double hit_rate() const { return Mean(hits_); }
  double ndcg() const { return Mean(gains_); }
  // Standard errors of the means over users: sqrt(variance / users).
  double hit_rate_error() const { return Error(hits_, hits_); }  // a hit is 0 or 1: its square is itself
  double ndcg_error() const { return Error(gains_, squares_); }
  // Share of the catalogue in at least one list (Herlocker et al., TOIS 22(1), 2004: "catalog coverage").
  double coverage() const;
  // Mean self-information over all places of all lists, in bits.
  double novelty() const;

 private:
  double Mean(double sum) const { return users_ == 0 ? 0 : sum / static_cast<double>(users_); }
  double Error(double sum, double squares) const;

  size_t k_, catalogue_;
  uint64_t users_ = 0, places_ = 0;
  double hits_ = 0, gains_ = 0, squares_ = 0, information_ = 0;
  absl::flat_hash_set<uint32_t> shown_;
};

}  // namespace waymark
