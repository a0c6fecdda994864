#include "rank/text_score.h"

#include <cmath>
#include <limits>

#include "rank/weighted_sum_ranker.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

Candidate Found(float score, float title, float match) {
  Candidate candidate;
  candidate.signals = MissingSignals();
  Set(candidate.signals, Signal::kKeywordScore, score);
  Set(candidate.signals, Signal::kKeywordTitle, title);
  Set(candidate.signals, Signal::kKeywordTitleMatch, match);
  return candidate;
}

TEST_CASE("the text score is a weighted sum of z-scores, as a share of the keyword score's") {
  // Scores 1, 3: z -1, 1. Titles 0, 0: 0. Matches 0, .5: z -1, 1. No proximity.
  const auto sums = TextScores({{Found(1, 0, 0), Found(3, 0, .5f)}});
  REQUIRE(sums.size() == 2);
  CHECK(sums[0] == Approx((-4. - 1) / 4));
  CHECK(sums[1] == Approx((4. + 1) / 4));
}

TEST_CASE("an item whose title is the query comes before any that only scores more") {
  std::vector<Candidate> candidates;
  // 500 candidates, one of them 22 deviations above the others: as far as a z-score goes.
  for (int i = 0; i < 500; ++i) candidates.push_back(Found(i == 0 ? 30.f : 5.f, .5f, .4f));
  candidates.push_back(Found(4.9f, 1, 1));
  const auto sums = TextScores(candidates);
  // z of the name's match and title alone are sqrt(500) each.
  CHECK(sums.back() > std::sqrt(500.) / 2);
  CHECK(sums.back() > sums[1] + kTitleIsQuery / 4);
  RequestContext context;
  context.query = "a name";
  auto by_default = MakeWeightedSumRanker({});
  REQUIRE(by_default.ok());
  auto scores = (*by_default)->Score(context, candidates, true, Deadline::Never());
  REQUIRE(scores.ok());
  float explained = scores->baseline;
  for (const Contribution& part : scores->explanations.back()) explained += part.contribution;
  CHECK(explained == Approx(scores->engagement.back()));
  CHECK(scores->engagement.back() == Approx(4 * sums.back()));
  // Weights of one's own are taken as they are.
  auto own = MakeWeightedSumRanker({{"keyword_title_match", 1}});
  REQUIRE(own.ok());
  scores = (*own)->Score(context, candidates, false, Deadline::Never());
  REQUIRE(scores.ok());
  CHECK(scores->engagement.back() == Approx(std::sqrt(500.)).epsilon(1e-3));
}

}  // namespace
}  // namespace waymark
