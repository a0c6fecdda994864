#include "recommend/popularity_table.h"

#include <cmath>
#include <random>

#include "tests/support/catch.h"

namespace waymark {
namespace {

std::vector<ItemOrdinal> InOrder(const PopularityTable& table) {
  std::vector<ItemOrdinal> items;
  table.ForEachByPopularity([&](ItemOrdinal item) {
    items.push_back(item);
    return true;
  });
  return items;
}

TEST_CASE("a decayed count halves with every half-life") {
  PopularityTable table(absl::Hours(24));
  const absl::Time start = absl::FromUnixSeconds(1700000000);
  table.Add(1, start);
  table.Add(1, start + absl::Hours(24));
  CHECK(table.LogDecayed(1, start + absl::Hours(24)) == Approx(std::log(1.5)));
  CHECK(table.LogDecayed(1, start + absl::Hours(72)) == Approx(std::log(1.5 / 4)));
  CHECK(std::isnan(table.LogDecayed(2, start)));
}

TEST_CASE("one event of today outweighs three of ten half-lives ago") {
  PopularityTable table(absl::Hours(24));
  const absl::Time now = absl::FromUnixSeconds(1700000000);
  for (int i = 0; i < 3; ++i) table.Add(7, now - absl::Hours(240));
  table.Add(3, now);
  CHECK(InOrder(table) == std::vector<ItemOrdinal>{3, 7});
  CHECK(table.Count(7) == 3);
}

TEST_CASE("the recent count adds up to a tenth of the log, and holds its newest part") {
  PopularityTable table(absl::Hours(24));
  for (int n = 0; n < 10000; ++n) table.Add(n < 9000 ? 1 : 2, absl::FromUnixSeconds(n));
  const double early = std::expm1(table.LogRecent(1)), late = std::expm1(table.LogRecent(2));
  CHECK(early + late == Approx(1000).epsilon(0.01));
  // The integral of 10 x^9 over the first nine tenths: .9^10.
  CHECK(early / (early + late) == Approx(std::pow(0.9, 10)).epsilon(0.01));
}

TEST_CASE("the order is that of all decayed counts, over many chunks of its lock") {
  PopularityTable table(absl::Hours(24));
  std::mt19937 random(5);
  std::vector<double> sums(3000, 0);
  for (int i = 0; i < 20000; ++i) {
    const ItemOrdinal item = random() % 3000;
    const int hours = static_cast<int>(random() % 240);
    table.Add(item, absl::UnixEpoch() + absl::Hours(hours));
    sums[item] += std::exp2(hours / 24.0);
  }
  const auto order = InOrder(table);
  size_t with_events = 0;
  for (double sum : sums) with_events += sum > 0;
  REQUIRE(order.size() == with_events);
  for (size_t i = 1; i < order.size(); ++i) CHECK(sums[order[i - 1]] >= sums[order[i]] * (1 - 1e-9));
}

}  // namespace
}  // namespace waymark
