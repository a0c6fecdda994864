#include "training/ranker/feature_moments.h"

#include <cmath>

#include "tests/support/catch.h"

namespace waymark {
namespace {

// Two columns; candidates (1, 5), (3, 5) | (8, 5) | (0, 5), (0, 5), (6, 5): the first column has the mean 3
// and the squares 4 + 0 + 25 + 9 + 9 + 9 = 56 of 6 rows.
RankingLists ThreeLists() {
  RankingLists lists(2, {});
  const ItemOrdinal items[] = {1, 2, 3};
  const float gains[] = {1, 0, 0};
  const std::vector<std::vector<float>> rows = {{1, 5, 3, 5}, {8, 5}, {0, 5, 0, 5, 6, 5}};
  for (const auto& features : rows) {
    const size_t n = features.size() / 2;
    RankingList list;
    list.features = features;
    list.candidates = absl::MakeConstSpan(items).first(n);
    list.gains = absl::MakeConstSpan(gains).first(n);
    REQUIRE(lists.Add(list).ok());
  }
  return lists;
}

TEST_CASE("moments are those of all candidates, and a column that never changes keeps the scale 1") {
  const FeatureMoments moments = MomentsOf(ThreeLists(), {0, 1, 2});
  CHECK(moments.rows == 6);
  CHECK(moments.mean[0] == Approx(3));
  CHECK(moments.squares[0] == Approx(56));
  CHECK(moments.Scale(0) == Approx(std::sqrt(56.0 / 6)));
  CHECK(moments.mean[1] == Approx(5));
  CHECK(moments.Scale(1) == 1);
}

TEST_CASE("moments of parts add up to those of the whole, whichever parts and in whatever order") {
  const RankingLists lists = ThreeLists();
  for (const std::vector<std::vector<size_t>>& parts :
       {std::vector<std::vector<size_t>>{{0}, {1}, {2}}, {{2}, {}, {0, 1}}, {{1, 2}, {0}}}) {
    FeatureMoments sum(2);
    for (const auto& part : parts) sum.Merge(MomentsOf(lists, part));
    CHECK(sum.rows == 6);
    CHECK(sum.mean[0] == Approx(3));
    CHECK(sum.squares[0] == Approx(56));
    CHECK(sum.Scale(1) == 1);
  }
}

}  // namespace
}  // namespace waymark
