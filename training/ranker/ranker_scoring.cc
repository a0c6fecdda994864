#include "training/ranker/ranker_scoring.h"

namespace waymark {
namespace {

void TakeScores(const torch::Tensor& of_batch, const RankingLists& lists, absl::Span<const size_t> some,
                std::vector<float>* out) {
  const torch::Tensor scores = of_batch.contiguous();
  for (size_t r = 0; r < some.size(); ++r) {
    const float* row = scores.data_ptr<float>() + static_cast<int64_t>(r) * scores.size(1);
    out[r].assign(row, row + lists[some[r]].candidates.size());
  }
}

}  // namespace

std::vector<std::vector<float>> ScoreWith(const RankerModel& model, absl::Span<RankerBatcher> batchers,
                                          ShardPool* pool, const RankingLists& lists,
                                          absl::Span<const size_t> chosen) {
  std::vector<std::vector<float>> all(chosen.size());
  const size_t stride = kScoredTogether * batchers.size();
  pool->Run(batchers.size(), [&](size_t part) {
    for (size_t first = part * kScoredTogether; first < chosen.size(); first += stride) {
      const auto some = chosen.subspan(first, kScoredTogether);
      TakeScores(model.Score(batchers[part].Make(lists, some)), lists, some, &all[first]);
    }
  });
  return all;
}

std::vector<std::vector<float>> ScoreSpreadWith(const RankerModel& model, absl::Span<RankerBatcher> batchers,
                                                ShardPool* pool, const RankingLists& lists,
                                                absl::Span<const size_t> chosen, RankerRanks* ranks) {
  std::vector<RankerBatch> batches;
  for (size_t first = 0; first < chosen.size(); first += kScoredTogether) {
    batches.push_back(batchers[first / kScoredTogether].Make(lists, chosen.subspan(first, kScoredTogether)));
  }
  const std::vector<torch::Tensor> scores = model.ScoreSpread(batches, ranks, pool);
  std::vector<std::vector<float>> all(chosen.size());
  for (size_t b = 0; b < scores.size(); ++b) {
    const size_t first = b * kScoredTogether;
    TakeScores(scores[b], lists, chosen.subspan(first, kScoredTogether), &all[first]);
  }
  return all;
}

}  // namespace waymark
