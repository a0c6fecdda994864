#include "pipeline/vector_fusion.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"

namespace waymark {
namespace {

// Of a list that is sorted by score: 0 for the last, 1 for the first, and for all where they are equal.
class StretchedScores {
 public:
  explicit StretchedScores(absl::Span<const ScoredItem> list)
      : least_(list.empty() ? 0 : list.back().score), greatest_(list.empty() ? 0 : list.front().score) {}
  double Of(double score) const { return greatest_ > least_ ? (score - least_) / (greatest_ - least_) : 1; }

 private:
  double least_, greatest_;
};

}  // namespace

std::vector<FusedItem> FuseWithNearest(absl::Span<const ScoredItem> words,
                                       absl::Span<const ScoredItem> nearest, const VectorAsked& asked) {
  std::vector<FusedItem> fused;
  absl::flat_hash_map<ItemOrdinal, size_t> places;
  const auto add = [&](absl::Span<const ScoredItem> list, double weight, int FusedItem::*rank_of) {
    const StretchedScores scores(list);
    for (size_t i = 0; i < list.size(); ++i) {
      const auto [place, is_new] = places.try_emplace(list[i].item, fused.size());
      if (is_new) fused.push_back({list[i].item});
      FusedItem& item = fused[place->second];
      item.*rank_of = static_cast<int>(i) + 1;
      item.score += weight * (asked.fusion == VectorAsked::Fusion::kRanks
                                  ? 1 / (kVectorFusionK + static_cast<double>(i) + 1)
                                  : scores.Of(list[i].score));
    }
  };
  add(words, 1 - asked.weight, &FusedItem::words_rank);
  add(nearest, asked.weight, &FusedItem::vector_rank);
  std::sort(fused.begin(), fused.end(), [](const FusedItem& a, const FusedItem& b) {
    if (a.score != b.score) return a.score > b.score;
    // With a weight of 0 or 1 what one list alone has stands behind, in its own order.
    if (a.words_rank + a.vector_rank != b.words_rank + b.vector_rank && (a.score == 0 && b.score == 0)) {
      return a.words_rank + a.vector_rank < b.words_rank + b.vector_rank;
    }
    return a.item < b.item;
  });
  return fused;
}

}  // namespace waymark
