#include <numeric>

#include "absl/strings/str_cat.h"
#include "training/ranker/ranker_scoring.h"
#include "training/ranker/ranker_trainer.h"

namespace waymark {

absl::StatusOr<std::vector<std::vector<float>>> ScoreRankingLists(const TrainedRanker& ranker,
                                                                  const RankingLists& lists,
                                                                  const ItemDirectory& directory) {
  if (static_cast<int64_t>(lists.feature_count()) != ranker.config.features) {
    return absl::InvalidArgumentError(absl::StrCat("the lists have ", lists.feature_count(),
                                                   " features; the ranker takes ", ranker.config.features));
  }
  try {
    const RankerItems items(lists, ranker.vocabulary, directory, ranker.config.content_buckets);
    RankerModel model(ranker.config, 0);
    if (auto status = model.ReadWeights(ranker.weights); !status.ok()) return status;
    std::vector<RankerBatcher> batchers;
    batchers.emplace_back(ranker.config, &items);
    ShardPool pool(1);
    std::vector<size_t> all(lists.size());
    std::iota(all.begin(), all.end(), size_t{0});
    return ScoreWith(model, absl::MakeSpan(batchers), &pool, lists, all);
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat("scoring ranking lists: ", e.what()));
  }
}

}  // namespace waymark
