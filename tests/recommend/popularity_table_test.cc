#include "recommend/popularity_table.h"

#include <cmath>
#include <random>

#include "tests/support/catch.h"

namespace waymark {
namespace {

std::vector<ItemOrdinal> InOrder(const PopularityTable& table, absl::Time now) {
  std::vector<ItemOrdinal> items;
  table.ForEachByPopularity(now, [&](ItemOrdinal item, double) {
    items.push_back(item);
    return true;
  });
  return items;
}

TEST_CASE("traffic of today outweighs more of ten half-lives ago") {
  PopularityTable table(absl::Hours(24));
  const absl::Time now = absl::FromUnixSeconds(1700000000);
  for (int i = 0; i < 3000; ++i) table.Add(7, now - absl::Hours(240));
  for (int i = 0; i < 1000; ++i) table.Add(3, now);
  CHECK(InOrder(table, now) == std::vector<ItemOrdinal>{3, 7});
  CHECK(table.Count(7) == 3000);
}

TEST_CASE("the recent count adds up to a tenth of the log, and holds its newest part") {
  PopularityTable table(absl::Hours(24));
  for (int n = 0; n < 10000; ++n) table.Add(n < 9000 ? 1 : 2, absl::FromUnixSeconds(n));
  const double early = std::expm1(table.LogRecent(1)), late = std::expm1(table.LogRecent(2));
  CHECK(early + late == Approx(1000).epsilon(0.01));
  // The integral of 10 x^9 over the first nine tenths: .9^10.
  CHECK(early / (early + late) == Approx(std::pow(0.9, 10)).epsilon(0.01));
}

TEST_CASE("popularity is the decayed count and a thousand times the share of all events") {
  PopularityTable table(absl::Hours(24));
  const absl::Time now = absl::FromUnixSeconds(1700000000);
  table.Add(1, now - absl::Hours(48));
  table.Add(2, now - absl::Hours(24));
  table.Add(2, now);
  CHECK(table.LogPopularity(1, now) == Approx(std::log(0.25 + 1000. / 3)));
  CHECK(table.LogPopularity(2, now) == Approx(std::log(1.5 + 2000. / 3)));
  CHECK(std::isnan(table.LogPopularity(3, now)));
}

TEST_CASE("three events of today after years of silence do not outweigh a hundred thousand before") {
  PopularityTable table(absl::Hours(24 * 30));
  const absl::Time now = absl::FromUnixSeconds(1700000000);
  const absl::Time then = now - absl::Hours(24 * 365 * 20);
  for (int n = 0; n < 100000; ++n) table.Add(n % 100 < 5 ? 1 : 10 + n % 1000, then);
  for (ItemOrdinal item : {20, 21, 22}) table.Add(item, now);
  CHECK(InOrder(table, now)[0] == 1);
  // With traffic, what is asked for now goes first.
  for (int n = 0; n < 2000; ++n) table.Add(n % 10 == 0 ? 20 : 3000 + n, now);
  CHECK(InOrder(table, now)[0] == 20);
}

TEST_CASE("the order is that of all sums, over many chunks of its lock") {
  PopularityTable table(absl::Hours(24));
  std::mt19937 random(5);
  constexpr int kEvents = 40000;
  std::vector<double> decayed(3000, 0), counts(3000, 0);
  const absl::Time now = absl::UnixEpoch() + absl::Hours(240);
  for (int n = 1; n <= kEvents; ++n) {
    // What is frequent is not what is new.
    const ItemOrdinal item = n < kEvents / 2 ? random() % 1500 : random() % 3000;
    const int hours = static_cast<int>(random() % (item % 7 + 1) * 40);
    table.Add(item, absl::UnixEpoch() + absl::Hours(hours));
    decayed[item] += std::exp2((hours - 240) / 24.0);
    ++counts[item];
  }
  const auto popularity = [&](ItemOrdinal item) { return decayed[item] + 1000 * counts[item] / kEvents; };
  const auto order = InOrder(table, now);
  size_t with_events = 0;
  for (double sum : decayed) with_events += sum > 0;
  REQUIRE(order.size() == with_events);
  for (size_t i = 1; i < order.size(); ++i) {
    CHECK(popularity(order[i - 1]) >= popularity(order[i]) * (1 - 1e-9));
  }
}

}  // namespace
}  // namespace waymark
