#include "training/ranker/ranker_scoring.h"

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

}  // namespace waymark
