#include "training/ranker/ranker_scoring.h"

#include <numeric>

#include "absl/strings/str_cat.h"
#include "training/ranker/ranker_trainer.h"

namespace waymark {
namespace {

constexpr size_t kTogether = 32;  // lists of one batch

}  // namespace

std::vector<std::vector<float>> ScoreWith(const RankerModel& model, absl::Span<RankerBatcher> batchers,
                                          ShardPool* pool, const RankingLists& lists,
                                          absl::Span<const size_t> chosen) {
  std::vector<std::vector<float>> all(chosen.size());
  const size_t stride = kTogether * batchers.size();
  pool->Run(batchers.size(), [&](size_t part) {
    for (size_t first = part * kTogether; first < chosen.size(); first += stride) {
      const auto some = chosen.subspan(first, kTogether);
      const torch::Tensor scores = model.Score(batchers[part].Make(lists, some)).contiguous();
      for (size_t r = 0; r < some.size(); ++r) {
        const float* row = scores.data_ptr<float>() + static_cast<int64_t>(r) * scores.size(1);
        all[first + r].assign(row, row + lists[some[r]].candidates.size());
      }
    }
  });
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
