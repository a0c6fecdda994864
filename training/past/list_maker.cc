#include "training/past/list_maker.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "training/ranker/ranking_list_builder.h"

namespace waymark {
namespace {

struct Made {
  RequestContext context;
  absl::StatusOr<std::vector<Candidate>> candidates = std::vector<Candidate>();
};

}  // namespace

absl::Status MakeRankingLists(const TrainingLog& log, Scope scope, const std::vector<Decision>& decisions,
                              const PastView& view, const storage::BlendingPlan& plan,
                              const ListMakerOptions& options,
                              const std::function<void(size_t done)>& progress, std::stop_token stop,
                              RankingLists* lists) {
  constexpr size_t kBlock = 256;
  const FeatureTable& table = FeatureTable::Current();
  RankingListBuilder builder(&table, lists);
  std::vector<Made> block;
  for (size_t first = 0; first < decisions.size(); first += kBlock) {
    if (stop.stop_requested()) return absl::CancelledError("stopped while lists were made");
    block.assign(std::min(kBlock, decisions.size() - first), {});
    std::atomic<size_t> next{0};
    const auto work = [&] {
      for (size_t i = next++; i < block.size(); i = next++) {
        block[i].context = ContextOf(log, scope, decisions[first + i], Repeats::kMask, options.as_known);
        block[i].candidates = view.Candidates(&block[i].context, plan);
      }
    };
    std::vector<std::thread> helpers;
    for (int t = 1; t < options.threads; ++t) helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers) helper.join();
    for (size_t i = 0; i < block.size(); ++i) {
      if (!block[i].candidates.ok()) return block[i].candidates.status();
      const TrainingEvent& answer = AnswerOf(log, decisions[first + i]);
      auto added = builder.AddList(block[i].context, *block[i].candidates, {answer.item}, {},
                                   absl::FromUnixMicros(answer.time_us), answer.offset);
      if (!added.ok()) return added.status();
    }
    if (progress) progress(first + block.size());
  }
  return absl::OkStatus();
}

}  // namespace waymark
