// Counts alone must reach the figures that were measured with other code, in Python, on the same files
// (design notes on ranking): HR@10 / nDCG@10, strict protocol.
#include "training/evaluation/leave_one_out.h"

#include <cmath>

#include "recommend/behaviour_counts.h"
#include "recommend/ease.h"
#include "recommend/sources/counts_sources.h"
#include "recommend/sources/ease_source.h"
#include "tests/support/catch.h"
#include "tests/support/sequences.h"
#include "tests/support/skip.h"

namespace waymark {
namespace {

constexpr double kWithin = 0.002;

std::shared_ptr<const BehaviourCounts> StrictCounts(const Interactions& interactions) {
  auto counts = std::make_shared<BehaviourCounts>(BehaviourCountsOptions{});
  counts->AddAll(interactions.WithoutLast(2));
  return counts;
}

LeaveOneOutResult Evaluate(const Interactions& interactions, const CatalogueScorer& scorer) {
  auto result = LeaveOneOut(interactions, {}, scorer);
  REQUIRE(result.ok());
  return *std::move(result);
}

LeaveOneOutResult EvaluateCovisitation(const Interactions& interactions) {
  const auto source = MakeCovisitationSource(StrictCounts(interactions));
  return Evaluate(interactions, ScorerOf(*source));
}

// Transitions, and behind them everything else by popularity: what kTransitionScore says of each item.
LeaveOneOutResult EvaluateMarkov(const Interactions& interactions) {
  const auto counts = StrictCounts(interactions);
  const auto source = MakeTransitionSource(counts);
  return Evaluate(interactions, [&](const RequestContext& context, absl::Span<float> scores) {
    for (ItemOrdinal item = 0; item < scores.size(); ++item)
      scores[item] = static_cast<float>(counts->EventCount(item)) * 1e-9f;
    auto answer = source->Find(context, scores.size(), Deadline::Never());
    if (!answer.ok()) return answer.status();
    for (const ScoredItem& item : answer->items) scores[item.item] = item.score;
    return absl::OkStatus();
  });
}

LeaveOneOutResult EvaluateEase(const Interactions& interactions, double lambda) {
  auto ease = Ease::Build(interactions.WithoutLast(2), {.lambda = lambda});
  REQUIRE(ease.ok());
  return Evaluate(interactions, [&](const RequestContext& context, absl::Span<float> scores) {
    std::vector<ItemOrdinal> history;
    for (const HistoryEvent& event : context.history) history.push_back(event.item);
    std::vector<float> columns((*ease)->items().size());
    (*ease)->Scores(history, absl::MakeSpan(columns));
    for (float& score : scores) score = 0;
    for (size_t j = 0; j < columns.size(); ++j) scores[(*ease)->items()[j]] = columns[j];
    return absl::OkStatus();
  });
}

void RequireFigures(const LeaveOneOutResult& result, double hit_rate, double ndcg) {
  std::printf(
      "HR@10 %.4f nDCG@10 %.4f over %zu users (reference %.4f %.4f), coverage %.3f, novelty %.2f bits\n",
      result.metrics.hit_rate(), result.metrics.ndcg(), result.ranks.size(), hit_rate, ndcg,
      result.metrics.coverage(), result.metrics.novelty());
  CHECK(std::abs(result.metrics.hit_rate() - hit_rate) <= kWithin);
  CHECK(std::abs(result.metrics.ndcg() - ndcg) <= kWithin);
}

TEST_CASE("windowed co-visitation reaches its reference on amazon beauty") {
  if (!tests::HaveData("amazon-beauty-5core")) return;
  RequireFigures(EvaluateCovisitation(tests::LoadBeauty()), .0783, .0484);
}

TEST_CASE("Markov-1 reaches its reference on amazon beauty") {
  if (!tests::HaveData("amazon-beauty-5core")) return;
  RequireFigures(EvaluateMarkov(tests::LoadBeauty()), .0670, .0440);
}

TEST_CASE("windowed co-visitation reaches its reference on ml-latest-small") {
  if (!tests::HaveData("ml-latest-small")) return;
  RequireFigures(EvaluateCovisitation(tests::LoadMovieLensSmall()), .1049, .0561);
}

TEST_CASE("Markov-1 reaches its reference on ml-latest-small") {
  if (!tests::HaveData("ml-latest-small")) return;
  RequireFigures(EvaluateMarkov(tests::LoadMovieLensSmall()), .0738, .0470);
}

TEST_CASE("EASE over the decayed history reaches its reference on ml-latest-small") {
  if (!tests::HaveData("ml-latest-small")) return;
  RequireFigures(EvaluateEase(tests::LoadMovieLensSmall(), 400), .1098, .0598);
}

TEST_CASE("counts and EASE reach their references on ml-100k") {
  const auto interactions = tests::LoadMovieLens100k();
  if (!interactions) return;
  RequireFigures(EvaluateMarkov(*interactions), .1453, .0769);
  RequireFigures(EvaluateCovisitation(*interactions), .2025, .1089);
  RequireFigures(EvaluateEase(*interactions, 400), .1919, .1064);
}

// 12,101 items: half a minute of Cholesky and 600 MB, so only when it is asked for by name.
TEST_CASE("EASE over the decayed history reaches its reference on amazon beauty", "[.slow]") {
  if (!tests::HaveData("amazon-beauty-5core")) return;
  RequireFigures(EvaluateEase(tests::LoadBeauty(), 200), .0762, .0438);
}

}  // namespace
}  // namespace waymark
