#include "experiment/outcomes/outcome_table.h"

#include <cmath>
#include <random>

#include "experiment/report/comparison.h"
#include "tests/experiment/fixture.h"

namespace waymark::tests {
namespace {

using storage::MetricRecord;

MetricPlan Metric(const std::string& name, MetricRecord::Kind kind, EventTypeCode type) {
  return {.name = name, .kind = kind, .events = {.type = type}, .window_us = 7 * kDayUs};
}

storage::EventRecord EventOf(EventTypeCode type, int64_t time_us, double value = 0) {
  storage::EventRecord event;
  event.set_type(type);
  event.set_time_us(time_us);
  if (value != 0) event.set_value(value);
  return event;
}

}  // namespace

TEST_CASE("Random events, in any order, add up to what a plain recount of them gives") {
  std::mt19937_64 random(4);
  std::vector<MetricPlan> metrics{Metric("clicks", MetricRecord::MEAN, event_code::kClick),
                                  Metric("bought", MetricRecord::PROPORTION, event_code::kPurchase),
                                  Metric("rating", MetricRecord::RATIO, event_code::kRating)};
  metrics[0].cap = 3;
  metrics[2].events.value = MetricRecord::Events::VALUE;
  metrics[2].denominator = {.type = event_code::kRating};
  const int64_t lookback = 14 * kDayUs;
  OutcomeTable table(metrics, {.arms = 2, .lookback_us = lookback});
  struct Fact {
    OutcomeTable::Row row;
    storage::EventRecord event;
  };
  std::vector<Fact> facts;
  constexpr int kUnits = 200;
  for (int i = 0; i < kUnits; ++i) {
    table.Add({i % 2, static_cast<int64_t>(random() % 100) * kDayUs / 10, static_cast<uint16_t>(i % 3)});
  }
  const EventTypeCode types[] = {event_code::kClick, event_code::kPurchase, event_code::kRating,
                                 event_code::kView};
  for (int i = 0; i < 5000; ++i) {
    facts.push_back({static_cast<OutcomeTable::Row>(random() % kUnits),
                     EventOf(types[random() % 4], (static_cast<int64_t>(random() % 400) - 150) * kDayUs / 10,
                             1.0 + static_cast<double>(random() % 5))});
    table.Count(facts.back().row, facts.back().event);
  }
  table.Exclude(7);
  for (size_t m = 0; m < metrics.size(); ++m) {
    std::vector<std::vector<statistics::PairMoments>> expected(3, std::vector<statistics::PairMoments>(2));
    for (OutcomeTable::Row row = 0; row < kUnits; ++row) {
      if (row == 7) continue;
      double y = 0, x = 0;
      for (const Fact& fact : facts) {
        if (fact.row != row || fact.event.type() != metrics[m].events.type) continue;
        const int64_t age = fact.event.time_us() - table.unit(row).exposed_us;
        const double value = m == 2 ? fact.event.value() : 1;
        if (age >= 0 && age < 7 * kDayUs) y += value, x += m == 2 ? 1 : 0;
        if (m != 2 && age < 0 && age >= -lookback) x += value;
      }
      if (m == 0) y = std::min(y, 3.0), x = std::min(x, 3.0);
      if (m == 1) y = y > 0, x = x > 0;
      expected[row % 3][row % 2].Add(y, x);
    }
    const auto groups = table.Read(m, metrics[m].cap);
    for (size_t s = 0; s < 3; ++s) {
      for (size_t a = 0; a < 2; ++a) {
        CHECK(groups[s][a].y.sum == expected[s][a].y.sum);
        CHECK(groups[s][a].y.sum_squares == expected[s][a].y.sum_squares);
        CHECK(groups[s][a].x.sum == expected[s][a].x.sum);
        CHECK(groups[s][a].sum_products == expected[s][a].sum_products);
      }
    }
  }
}

TEST_CASE("The first and the last moment of the window count, the next does not") {
  OutcomeTable table({Metric("clicks", MetricRecord::MEAN, event_code::kClick)}, {.arms = 2});
  const auto row = table.Add({0, 1000});
  for (const int64_t time : {int64_t{999}, int64_t{1000}, 999 + 7 * kDayUs, 1000 + 7 * kDayUs}) {
    table.Count(row, EventOf(event_code::kClick, time));
  }
  CHECK(table.Read(0, 0)[0][0].y.sum == 2);
}

TEST_CASE("Revenue is price times quantity, and a surface keeps other surfaces' events out") {
  MetricPlan revenue = Metric("revenue", MetricRecord::MEAN, event_code::kPurchase);
  revenue.events.value = MetricRecord::Events::REVENUE;
  revenue.events.surface = "home";
  OutcomeTable table({revenue}, {.arms = 2});
  const auto row = table.Add({1, 0});
  storage::EventRecord event = EventOf(event_code::kPurchase, 10);
  event.set_surface("home");
  auto& first = *event.add_items();
  first.set_price(2.5), first.set_quantity(4);
  event.add_items()->set_price(3);
  table.Count(row, event);
  event.set_surface("search");
  table.Count(row, event);
  CHECK(table.Read(0, 0)[0][1].y.sum == 13);
}

TEST_CASE("Days since exposure hold only units whose day is over") {
  OutcomeTable table({Metric("clicks", MetricRecord::MEAN, event_code::kClick)}, {.arms = 2});
  const auto early = table.Add({0, 0}), late = table.Add({0, 2 * kDayUs});
  table.Count(early, EventOf(event_code::kClick, kDayUs / 2));
  table.Count(early, EventOf(event_code::kClick, 3 * kDayUs / 2));
  table.Count(late, EventOf(event_code::kClick, 2 * kDayUs + 5));
  const auto days = table.ReadDays(2 * kDayUs + kDayUs / 2);
  REQUIRE(days.size() == 7);
  CHECK(days[0][0].n == 1);
  CHECK(days[0][0].sum == 1);
  CHECK(days[1][0].sum == 1);
  CHECK(days[2][0].n == 0);
  CHECK(table.ReadDays(4 * kDayUs)[0][0].n == 2);
}

TEST_CASE("A winsorised metric is cut at one quantile of all units' positive sums") {
  MetricPlan spend = Metric("spend", MetricRecord::MEAN, event_code::kPurchase);
  spend.events.value = MetricRecord::Events::VALUE;
  spend.cap_quantile = .9;
  OutcomeTable table({spend}, {.arms = 2});
  for (int i = 1; i <= 10; ++i) {
    table.Count(table.Add({i % 2, 0}), EventOf(event_code::kPurchase, 1, i == 10 ? 1000 : i));
    table.Add({i % 2, 0});
  }
  CHECK(CapOf(table, 0) == 9);
}

TEST_CASE("The best arm is the one with the largest gain among those that are surely better") {
  const auto arm = [](const std::string& name, double estimate, double p, bool lower = false) {
    Comparison comparison;
    comparison.arm = name;
    comparison.lower_is_better = lower;
    comparison.absolute.estimate = estimate;
    comparison.adjusted_p = p;
    return comparison;
  };
  CHECK(BestArm({arm("a", .1, .01), arm("b", .2, .04), arm("c", .9, .2), arm("d", -1, .001)}, .05) == "b");
  CHECK(BestArm({arm("a", .1, .01, true), arm("d", -1, .001, true)}, .05) == "d");
  CHECK(BestArm({arm("c", .9, .2)}, .05).empty());
}

}  // namespace waymark::tests
