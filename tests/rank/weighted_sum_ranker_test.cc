#include "rank/weighted_sum_ranker.h"

#include <cmath>

#include "tests/support/catch.h"

namespace waymark {
namespace {

std::vector<Candidate> ThreeCandidates() {
  std::vector<Candidate> candidates(3);
  for (size_t i = 0; i < 3; ++i) candidates[i].item = static_cast<ItemOrdinal>(i);
  Set(candidates[0].signals, Signal::kRetrieverScore, 0.2f);
  Set(candidates[1].signals, Signal::kRetrieverScore, 0.8f);
  Set(candidates[0].signals, Signal::kPopularityScore, 3.f);
  Set(candidates[1].signals, Signal::kPopularityScore, 1.f);
  Set(candidates[2].signals, Signal::kPopularityScore, 2.f);
  return candidates;
}

TEST_CASE("a weighted sum adds weights times z-scores, and nothing for missing signals") {
  auto ranker = MakeWeightedSumRanker({{"retriever_score", 2}, {"popularity_score", -1}});
  REQUIRE(ranker.ok());
  auto scores = (*ranker)->Score({}, ThreeCandidates(), true, Deadline::Never());
  REQUIRE(scores.ok());
  // z of the retriever: -1, 1, missing; of popularity: sqrt(3/2), -sqrt(3/2), 0.
  const float r = std::sqrt(1.5f);
  CHECK(scores->engagement[0] == Approx(-2 - r));
  CHECK(scores->engagement[1] == Approx(2 + r));
  CHECK(scores->engagement[2] == Approx(0).margin(1e-6));
  // Explanations are exact.
  REQUIRE(scores->explanations.size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    float sum = scores->baseline;
    for (const Contribution& c : scores->explanations[i]) sum += c.contribution;
    CHECK(sum == Approx(scores->engagement[i]).margin(1e-6));
  }
  CHECK(scores->explanations[2].size() == 1);  // it has no retriever score
}

TEST_CASE("with a query the keyword score decides, without one behaviour does") {
  auto ranker = MakeWeightedSumRanker({});
  REQUIRE(ranker.ok());
  std::vector<Candidate> candidates = ThreeCandidates();
  Set(candidates[0].signals, Signal::kKeywordScore, 9.f);
  Set(candidates[1].signals, Signal::kKeywordScore, 5.f);
  Set(candidates[2].signals, Signal::kKeywordScore, 1.f);
  RequestContext context;
  auto feed = (*ranker)->Score(context, candidates, false, Deadline::Never());
  REQUIRE(feed.ok());
  CHECK(feed->engagement[1] > feed->engagement[0]);
  CHECK(feed->explanations.empty());
  context.query = "anything";
  auto search = (*ranker)->Score(context, candidates, false, Deadline::Never());
  REQUIRE(search.ok());
  CHECK(search->engagement[0] > search->engagement[1]);
  CHECK(search->engagement[1] > search->engagement[2]);
}

TEST_CASE("unknown signals and weights that are no numbers are refused by name") {
  const auto unknown = MakeWeightedSumRanker({{"charm", 1}});
  REQUIRE(absl::IsInvalidArgument(unknown.status()));
  CHECK(std::string(unknown.status().message()).find("'charm'") != std::string::npos);
  CHECK(absl::IsInvalidArgument(MakeWeightedSumRanker({{"popularity_score", std::nan("")}}).status()));
  CHECK(absl::IsInvalidArgument(MakeWeightedSumRanker({{"popularity_score", INFINITY}}).status()));
}

TEST_CASE("no candidates have no scores, and too many are refused") {
  auto ranker = MakeWeightedSumRanker({});
  REQUIRE(ranker.ok());
  auto none = (*ranker)->Score({}, {}, true, Deadline::Never());
  REQUIRE(none.ok());
  CHECK(none->engagement.empty());
  CHECK(absl::IsInvalidArgument(
      (*ranker)->Score({}, std::vector<Candidate>(2001), false, Deadline::Never()).status()));
  CHECK(absl::IsDeadlineExceeded(
      (*ranker)->Score({}, ThreeCandidates(), false, Deadline::At(absl::InfinitePast())).status()));
}

}  // namespace
}  // namespace waymark
