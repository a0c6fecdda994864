// Makes ranking lists of requests, with the code that serving uses.
//
//   RankingListBuilder builder(&FeatureTable::Current(), &lists);
//   builder.AddList(context, candidates, {target}, {}, time, offset);
#pragma once
#include <vector>

#include "absl/time/time.h"
#include "rank/feature_table.h"
#include "training/ranker/ranking_lists.h"

namespace waymark {

// Turns a request and its candidates into a list.
class RankingListBuilder {
 public:
  RankingListBuilder(const FeatureTable* table, RankingLists* lists) : table_(table), lists_(lists) {}
  // `gains`: of the targets; empty: 1 each. False: no target is among the candidates (counted), or the memory
  // limit is reached (counted). Candidates carry all their signals.
  absl::StatusOr<bool> AddList(const RequestContext& context, absl::Span<const Candidate> candidates,
                               absl::Span<const ItemOrdinal> targets, absl::Span<const float> gains,
                               absl::Time time, LogOffset position);

 private:
  const FeatureTable* table_;
  RankingLists* lists_;
  std::vector<float> rows_, list_gains_;
  std::vector<ItemOrdinal> items_;
};

}  // namespace waymark
