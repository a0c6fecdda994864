#include <cmath>
#include <map>
#include <random>
#include <set>

#include "experiment/interleaving/preference.h"
#include "experiment/interleaving/team_draft.h"
#include "experiment/statistics/power.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

std::vector<ItemOrdinal> Items(const std::vector<DraftedItem>& list) {
  std::vector<ItemOrdinal> items;
  for (const DraftedItem& drafted : list) items.push_back(drafted.item);
  return items;
}

TEST_CASE("Team-draft of [1,2] and [3,4] at length 3 gives exactly the four published lists") {
  std::set<std::vector<ItemOrdinal>> lists;
  for (int coins = 0; coins < 8; ++coins) {
    int toss = 0;
    lists.insert(Items(TeamDraft({1, 2}, {3, 4}, 3, [&] { return (coins >> toss++ & 1) != 0; })));
  }
  CHECK(lists == std::set<std::vector<ItemOrdinal>>{{1, 3, 2}, {1, 3, 4}, {3, 1, 2}, {3, 1, 4}});
}

TEST_CASE("An item that both rank goes to who picks it first, and none appears twice") {
  const auto list = TeamDraft({1, 2, 3}, {1, 3, 2}, 5, [] { return false; });
  CHECK(Items(list) == std::vector<ItemOrdinal>{1, 2, 3});
  CHECK(list[0].team == Team::kB);
  CHECK(list[1].team == Team::kA);
}

TEST_CASE("A ranking that runs out leaves the rest to the other") {
  CHECK(Items(TeamDraft({1}, {2, 3, 4}, 4, [] { return true; })) == std::vector<ItemOrdinal>{1, 2, 3, 4});
  CHECK(TeamDraft({}, {}, 4, [] { return true; }).empty());
}

TEST_CASE("Of three rankings every order of a round is as likely, and nobody's item comes twice") {
  const std::vector<ItemOrdinal> a = {1, 9}, b = {2, 9}, c = {3, 9, 4};
  std::mt19937_64 random(5);
  std::map<std::vector<ItemOrdinal>, int> rounds;
  constexpr int kLists = 60000;
  int ninth[4] = {0, 0, 0, 0};
  for (int i = 0; i < kLists; ++i) {
    const auto list = TeamDraft({a, b, c}, 10, [&](size_t n) { return random() % n; });
    // All are through after the second round: 1, 2, 3 in some order, then 9, then 4.
    REQUIRE(list.size() == 5);
    ++rounds[{list[0].item, list[1].item, list[2].item}];
    for (size_t place = 0; place < 3; ++place) CHECK(list[place].team == TeamOf(list[place].item - 1));
    for (const DraftedItem& one : list) {
      if (one.item == 9) ++ninth[RankingOf(one.team)];
      if (one.item == 4) CHECK(one.team == TeamOf(2));
    }
  }
  CHECK(rounds.size() == 6);
  for (const auto& [round, times] : rounds) CHECK(std::abs(times - kLists / 6) < 5 * std::sqrt(kLists / 6.));
  for (int team = 0; team < 3; ++team) CHECK(std::abs(ninth[team] - kLists / 3) < 5 * std::sqrt(kLists / 3.));
}

TEST_CASE("Clicks are credited to the team that brought the item") {
  const std::vector<DraftedItem> list{{1, Team::kA}, {3, Team::kB}, {2, Team::kA}};
  CHECK(CreditOf(list, {2, 3, 1, 1, 9}).Winner() == Team::kA);
  CHECK(CreditOf(list, {3}).Winner() == Team::kB);
  CHECK(CreditOf(list, {1, 3}).Winner() == Team::kNone);
  CHECK(CreditOf(list, {}).Winner() == Team::kNone);
}

TEST_CASE("Eight of ten lists for B: delta, sign test") {
  Preference preference;
  for (int i = 0; i < 8; ++i) preference.Add({0, 1});
  preference.Add({1, 0}), preference.Add({1, 1});
  const PreferenceResult result = preference.Analyse({});
  CHECK(result.delta == Approx(.35));
  CHECK(result.sign_test_p == Approx(2 * 10.0 / 512));
}

// Readers look at place p with chance 1/p and click what is relevant with .4, other items with .05. A ranks
// the relevant items third and fourth, B first and second in a fifth of the lists.
struct Readers {
  std::mt19937_64 random{7};
  double Uniform() { return std::uniform_real_distribution<double>()(random); }
  std::vector<ItemOrdinal> Clicks(const std::vector<ItemOrdinal>& list) {
    std::vector<ItemOrdinal> clicked;
    for (size_t p = 0; p < list.size(); ++p) {
      const bool looked = Uniform() < 1.0 / static_cast<double>(p + 1);
      if (looked && Uniform() < (list[p] >= 100 ? .4 : .05)) clicked.push_back(list[p]);
    }
    return clicked;
  }
  std::vector<ItemOrdinal> RankingA() { return {1, 2, 100, 101, 3, 4, 5, 6, 7, 8}; }
  std::vector<ItemOrdinal> RankingB() {
    if (Uniform() < .8) return RankingA();
    return {100, 101, 1, 2, 3, 4, 5, 6, 7, 8};
  }
};

TEST_CASE("Interleaving finds a better ranking with at least 4 times fewer lists than a split") {
  Readers readers;
  statistics::Moments credit, clicks_a, clicks_b;
  for (int i = 0; i < 40000; ++i) {
    const auto list =
        TeamDraft(readers.RankingA(), readers.RankingB(), 10, [&] { return readers.Uniform() < .5; });
    const ListCredit one = CreditOf(list, readers.Clicks(Items(list)));
    credit.Add(one.b > one.a ? 1 : one.a > one.b ? -1 : 0);
    clicks_a.Add(readers.Clicks(readers.RankingA()).empty() ? 0 : 1);
    clicks_b.Add(readers.Clicks(readers.RankingB()).empty() ? 0 : 1);
  }
  CHECK(credit.Mean() > 0);
  CHECK(clicks_b.Mean() > clicks_a.Mean());
  // Lists that each needs for the same power: of one sample, and of two groups.
  const double interleaved = statistics::UnitsPerGroup(
      {.effect = credit.Mean(), .control_variance = credit.Variance(), .treatment_variance = 0});
  const double split = 2 * statistics::UnitsPerGroup({.effect = clicks_b.Mean() - clicks_a.Mean(),
                                                      .control_variance = clicks_a.Variance(),
                                                      .treatment_variance = clicks_b.Variance()});
  INFO("interleaved " << interleaved << ", split " << split);
  CHECK(split > 4 * interleaved);
}

TEST_CASE("Two equal rankings are not told apart at any look in more than 5% of tests") {
  Readers readers;
  int wrong = 0;
  for (int test = 0; test < 200; ++test) {
    Preference preference;
    bool found = false;
    for (int i = 1; i <= 1000; ++i) {
      const auto list =
          TeamDraft(readers.RankingA(), readers.RankingA(), 10, [&] { return readers.Uniform() < .5; });
      preference.Add(CreditOf(list, readers.Clicks(Items(list))));
      if (i >= 100 && i % 20 == 0) found |= preference.Analyse({.tuning = 500}).sequence.p_value < .05;
    }
    wrong += found;
  }
  CHECK(wrong <= 10 + 2);
}

}  // namespace
}  // namespace waymark
