#include "training/evaluation/recommend_metrics.h"

#include <cmath>
#include <limits>

#include "tests/support/catch.h"

namespace waymark {
namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();

TEST_CASE("the rank counts better items, and half of the ties") {
  const std::vector<float> scores = {5, 3, 3, 3, 1, kMasked};
  CHECK(MiddleRank(scores, 0) == 1);
  CHECK(MiddleRank(scores, 1) == 3);  // places 2, 3, 4
  CHECK(MiddleRank(scores, 4) == 5);
  const std::vector<float> tie = {7, 7};
  CHECK(MiddleRank(tie, 0) == 1.5);
}

TEST_CASE("a scorer that knows nothing is ranked in the middle of the catalogue") {
  const std::vector<float> scores(101, 0.5f);
  CHECK(MiddleRank(scores, 0) == 51);
  CHECK(MiddleRank(scores, 100) == 51);
}

TEST_CASE("hits and gains end at k") {
  CHECK(HitAt(10, 10) == 1);
  CHECK(HitAt(10.5, 10) == 0);
  CHECK(NdcgAtRank(1, 10) == 1);
  CHECK(NdcgAtRank(3, 10) == Approx(0.5));  // 1 / log2(4)
  CHECK(NdcgAtRank(7, 10) == Approx(1.0 / 3));
  CHECK(NdcgAtRank(11, 10) == 0);
}

TEST_CASE("means and standard errors over users are those worked out by hand") {
  RecommendMetrics metrics(10, 4);
  metrics.AddRank(1);
  metrics.AddRank(3);
  metrics.AddRank(12);
  metrics.AddRank(std::numeric_limits<double>::infinity());
  CHECK(metrics.users() == 4);
  CHECK(metrics.hit_rate() == Approx(0.5));
  CHECK(metrics.ndcg() == Approx(0.375));
  // Hits 1 1 0 0: variance 1/3, over 4 users.
  CHECK(metrics.hit_rate_error() == Approx(std::sqrt(1.0 / 12)));
  // Gains 1, .5, 0, 0: squares about the mean .375 sum to .6875.
  CHECK(metrics.ndcg_error() == Approx(std::sqrt(0.6875 / 3 / 4)));
}

TEST_CASE("coverage counts distinct items, novelty is the mean surprise in bits") {
  RecommendMetrics metrics(2, 8);
  const std::vector<uint64_t> known = {8, 4, 1};
  metrics.AddList(std::vector<uint32_t>{1, 2, 3}, known, 8);  // the third place is beyond k
  metrics.AddList(std::vector<uint32_t>{2, 1}, std::vector<uint64_t>{4, 8}, 8);
  CHECK(metrics.coverage() == Approx(2.0 / 8));
  CHECK(metrics.novelty() == Approx(0.5));  // 0 and 1 bit
  CHECK(SelfInformation(1, 1024) == 10);
  CHECK(SelfInformation(0, 1024) == 10);
}

}  // namespace
}  // namespace waymark
