#include "training/evaluation/list_ndcg.h"

#include <vector>

#include "tests/support/catch.h"

namespace waymark {
namespace {

using Floats = std::vector<float>;

TEST_CASE("nDCG of one wanted item is the discount of its rank") {
  CHECK(ListNdcg(Floats{.9f, .1f, .5f}, Floats{1, 0, 0}, 10) == Approx(1));
  CHECK(ListNdcg(Floats{.9f, .1f, .5f}, Floats{0, 0, 1}, 10) == Approx(0.6309298));  // 1 / log2(3)
  CHECK(ListNdcg(Floats{.9f, .1f, .5f}, Floats{0, 1, 0}, 10) == Approx(0.5));        // 1 / log2(4)
  CHECK(ListNdcg(Floats{.9f, .1f, .5f}, Floats{0, 1, 0}, 2) == 0);
}

TEST_CASE("graded nDCG is that of the textbook example") {
  // Gains 3 2 3 0 1 2 in ranked order: DCG 6.861, ideal 3 3 2 2 1 0: 7.141, nDCG .9608 (Wikipedia,
  // "Discounted cumulative gain").
  CHECK(ListNdcg(Floats{6, 5, 4, 3, 2, 1}, Floats{3, 2, 3, 0, 1, 2}, 6) == Approx(0.9608).margin(5e-5));
}

TEST_CASE("items of a tie take the mean discount of its ranks") {
  // Ranks 1 and 2 are one tie: (1 + .6309298) / 2.
  CHECK(ListNdcg(Floats{1, 1, 0}, Floats{1, 0, 0}, 10) == Approx(0.8154649));
  CHECK(ListNdcg(Floats{1, 1, 0}, Floats{0, 1, 0}, 10) == Approx(0.8154649));
  // A tie across the cut: rank 2 of 2 and 3 counts for half.
  CHECK(ListNdcg(Floats{2, 1, 1}, Floats{0, 0, 1}, 2) == Approx(0.6309298 / 2));
  CHECK(ListNdcg(Floats{1, 1}, Floats{0, 0}, 2) == 0);
  CHECK(ListNdcg({}, {}, 2) == 0);
}

}  // namespace
}  // namespace waymark
