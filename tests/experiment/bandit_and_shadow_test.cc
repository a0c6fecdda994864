#include <numeric>
#include <random>

#include "experiment/bandit/thompson.h"
#include "experiment/shadow/agreement.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

std::vector<double> Shares(const std::vector<BanditArm>& arms) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform;
  return TopTwoShares(arms, {}, [&] { return uniform(random); });
}

TEST_CASE("Arms that nothing is known of share alike") {
  for (const double share : Shares({{}, {}, {}, {}})) CHECK(share == Approx(.25).margin(.02));
}

TEST_CASE("A sure winner takes half, its challenger most of the rest, and each keeps the floor") {
  const auto shares = Shares({{900, 100}, {500, 500}, {100, 900}});
  CHECK(shares[0] == Approx(.01 + .97 / 2).margin(.001));
  CHECK(shares[1] == Approx(.01 + .97 / 2).margin(.001));
  CHECK(shares[2] == Approx(.01).margin(1e-9));
  CHECK(std::accumulate(shares.begin(), shares.end(), 0.0) == Approx(1));
  CHECK(Shares({{1, 2}}) == std::vector<double>{1});
}

// Of Beta(3, 2) against Beta(2, 3): P(first > second) = 53/70.
TEST_CASE("Draws follow the posterior") {
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> uniform;
  const auto shares = TopTwoShares({{2, 1}, {1, 2}}, {.best_share = 1, .floor = 0, .draws = 100000},
                                   [&] { return uniform(random); });
  CHECK(shares[0] == Approx(53.0 / 70).margin(.005));
}

TEST_CASE("Agreement of two lists: overlap and rank correlation, by hand") {
  CHECK(OverlapAtTen({1, 2, 3, 4}, {4, 3, 9, 8}) == .5);
  CHECK(OverlapAtTen({}, {}) == 1);
  CHECK(OverlapAtTen({1}, {}) == 0);
  CHECK(RankCorrelation({1, 2, 3}, {1, 2, 3}) == 1);
  CHECK(RankCorrelation({1, 2, 3}, {3, 2, 1}) == -1);
  // Shared 1, 2, 3 in the order 2, 1, 3: one of three pairs is turned.
  CHECK(RankCorrelation({1, 7, 2, 3}, {2, 1, 8, 3}) == Approx(1.0 / 3));
  CHECK(RankCorrelation({1, 2}, {2, 3}) == std::nullopt);
  ShadowSums sums;
  const ShadowAnswer served{.items = {1, 2}};
  AddCopy(served, {.measured = {.latency = absl::Milliseconds(5)}, .items = {2, 1}}, &sums);
  AddCopy(served, {.measured = {.latency = absl::Milliseconds(7)}, .items = {2, 3}}, &sums);
  AddCopy(served, {.measured = {.error = true}}, &sums);
  CHECK(sums.copies.answers() == 3);
  CHECK(sums.copies.errors() == 1);
  CHECK(sums.copies.latency_sum() == 12);
  CHECK(sums.overlap_sum == 1.5);
  CHECK(sums.tau_sum == -1);
  CHECK(sums.correlated == 1);
}

}  // namespace
}  // namespace waymark
