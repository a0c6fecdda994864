#include "training/ranker/ranker_scoring.h"

#include <numeric>

#include "absl/strings/str_cat.h"
#include "training/ranker/ranker_trainer.h"

namespace waymark {
namespace {

constexpr size_t kTogether = 32;  // lists of one batch

}  // namespace

std::vector<std::vector<float>> ScoreWith(RankerModel* model, RankerBatcher* batcher,
                                          const RankingLists& lists, absl::Span<const size_t> chosen) {
  std::vector<std::vector<float>> all;
  all.reserve(chosen.size());
  for (size_t first = 0; first < chosen.size(); first += kTogether) {
    const auto some = chosen.subspan(first, kTogether);
    const torch::Tensor scores = model->Score(batcher->Make(lists, some)).contiguous();
    for (size_t r = 0; r < some.size(); ++r) {
      const float* row = scores.data_ptr<float>() + static_cast<int64_t>(r) * scores.size(1);
      all.emplace_back(row, row + lists[some[r]].candidates.size());
    }
  }
  return all;
}

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
    RankerBatcher batcher(ranker.config, &items);
    std::vector<size_t> all(lists.size());
    std::iota(all.begin(), all.end(), size_t{0});
    return ScoreWith(&model, &batcher, lists, all);
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat("scoring ranking lists: ", e.what()));
  }
}

}  // namespace waymark
