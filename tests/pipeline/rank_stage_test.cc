#include "pipeline/rank_stage.h"

#include <cmath>

#include "tests/support/catch.h"

namespace waymark {
namespace {

// Scores by a list of its own.
class ListRanker : public Ranker {
 public:
  ListRanker(std::vector<float> scores, bool knows_queries)
      : scores_(std::move(scores)), knows_queries_(knows_queries) {}
  const std::string& version() const override { return version_; }
  const std::string& retriever_sha256() const override { return any_; }
  bool knows_queries() const override { return knows_queries_; }
  absl::StatusOr<RankerScores> Score(const RequestContext&, absl::Span<const Candidate>, bool,
                                     Deadline) const override {
    RankerScores scores;
    scores.engagement = scores_;
    return scores;
  }

 private:
  const std::vector<float> scores_;
  const bool knows_queries_;
  const std::string version_ = "list", any_;
};

std::vector<Candidate> Matches(const std::vector<float>& keyword_scores) {
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < keyword_scores.size(); ++i) {
    Candidate& candidate = candidates.emplace_back();
    candidate.item = static_cast<ItemOrdinal>(i);
    candidate.signals = MissingSignals();
    Set(candidate.signals, Signal::kKeywordScore, keyword_scores[i]);
  }
  return candidates;
}

std::vector<RankedCandidate> Rank(const Ranker& ranker, const RankStageOptions& options,
                                  std::vector<Candidate> candidates) {
  auto ranked = RankCandidates(ranker, {}, std::move(candidates), options, Deadline::Never());
  if (!ranked.ok()) FAIL(std::string(ranked.status().message()));
  return *std::move(ranked);
}

TEST_CASE("under a ranker that never saw a query words decide a search, and taste breaks near ties") {
  const ListRanker ranker({3, 2, 1}, false);
  // Of the words 0, 3, 3: z -sqrt(2), 1 / sqrt(2) twice. Of the taste: sqrt(3/2), 0, -sqrt(3/2).
  const auto ranked = Rank(ranker, {.search = true, .search_ranker_weight = 0.15}, Matches({0, 3, 3}));
  REQUIRE(ranked.size() == 3);
  CHECK(ranked[0].candidate.item == 1);
  CHECK(ranked[1].candidate.item == 2);
  CHECK(ranked[2].candidate.item == 0);
  CHECK(ranked[0].score == Approx(std::sqrt(0.5)));
  CHECK(ranked[1].score == Approx(std::sqrt(0.5) - 0.15 * std::sqrt(1.5)));
  CHECK(ranked[2].score == Approx(-std::sqrt(2.) + 0.15 * std::sqrt(1.5)));
  CHECK(ranked[2].heads.at("engagement") == 3);
  CHECK(ranked[2].heads.at("keyword") == 0);
}

TEST_CASE("a ranker that knows queries, and a feed, are ordered by the ranker alone") {
  for (const bool search : {true, false}) {
    const auto ranked = Rank(ListRanker({3, 2, 1}, search), {.search = search, .search_ranker_weight = 0.15},
                             Matches({0, 3, 3}));
    CHECK(ranked[0].candidate.item == 0);
    CHECK(ranked[0].score == 3);
    CHECK(ranked[2].candidate.item == 2);
  }
}

TEST_CASE("who types a name finds it first, whatever the ranker likes") {
  auto candidates = Matches({9, 2, 8, 7, 6});
  Set(candidates[1].signals, Signal::kKeywordTitleMatch, 1);
  const auto ranked =
      Rank(ListRanker({5, 1, 5, 5, 5}, false), {.search = true, .search_ranker_weight = 0.15}, candidates);
  CHECK(ranked[0].candidate.item == 1);
}

}  // namespace
}  // namespace waymark
