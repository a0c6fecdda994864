#include "recommend/behaviour_counts.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "tests/recommend/contexts.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

using tests::ContextOf;
using tests::ItemsOf;
using tests::Only;

Interactions Histories(const std::vector<std::vector<ItemOrdinal>>& users) {
  Interactions out;
  LogOffset offset = 0;
  for (size_t u = 0; u < users.size(); ++u) {
    std::vector<int64_t> times;
    std::vector<LogOffset> offsets;
    for (size_t i = 0; i < users[u].size(); ++i) {
      times.push_back(static_cast<int64_t>(i) * 1000000);
      offsets.push_back(++offset);
    }
    out.AddUser(u + 1, users[u], times, offsets);
  }
  return out;
}

std::vector<Candidate> Filled(const BehaviourCounts& counts, const RequestContext& context,
                              const std::vector<ItemOrdinal>& items) {
  std::vector<Candidate> candidates(items.size());
  for (size_t i = 0; i < items.size(); ++i) candidates[i].item = items[i];
  counts.Fill(context, absl::MakeSpan(candidates));
  return candidates;
}

float SignalOf(const Candidate& candidate, Signal signal) { return Get(candidate.signals, signal); }

TEST_CASE("co-visitation weighs distance, direction, age and popularity as worked out by hand") {
  BehaviourCounts counts({});
  counts.AddAll(Histories({{1, 2, 3}, {2, 3}}));
  // w(1,2) = 1, w(1,3) = .8, w(2,3) = 2; backwards .3 of each. Counts: 1 once, 2 and 3 twice.
  const auto found = counts.CoVisited(ContextOf({1, 2}), 10);
  REQUIRE(found.size() == 3);
  CHECK(found[0].item == 3);
  CHECK(found[0].score == Approx(2 / std::sqrt(4.0) + .8 * .8 / std::sqrt(2.0)));
  CHECK(found[1].item == 2);  // of 1, one step older
  CHECK(found[1].score == Approx(.8 * 1 / std::sqrt(2.0)));
  CHECK(found[2].item == 1);
  CHECK(found[2].score == Approx(.3 / std::sqrt(2.0)));
}

TEST_CASE("pairs further apart than the window do not count") {
  BehaviourCounts counts({});
  counts.AddAll(Histories({{1, 2, 3, 4, 5, 6, 7}}));
  const auto found = ItemsOf(counts.CoVisited(ContextOf({1}), 10));
  CHECK(found == std::vector<ItemOrdinal>{2, 3, 4, 5, 6});
}

TEST_CASE("only the newest ten items ask") {
  BehaviourCounts counts({});
  counts.AddAll(Histories({{1, 2}}));
  CHECK(counts.CoVisited(ContextOf({1, 3, 3, 3, 3, 3, 3, 3, 3, 3}), 10).size() == 1);
  CHECK(counts.CoVisited(ContextOf({1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3}), 10).empty());
}

TEST_CASE("transitions are shares of what came next, ties go to the more popular item") {
  BehaviourCounts counts({});
  counts.AddAll(Histories({{1, 2}, {1, 2}, {1, 4}, {1, 3}, {5, 3}, {5, 3}}));
  const RequestContext context = ContextOf({9, 1});
  const auto found = counts.Transitions(context, 10);
  CHECK(ItemsOf(found) == std::vector<ItemOrdinal>{2, 3, 4});
  CHECK(found[0].score == Approx(0.5).margin(0.1));  // 2 of 4, and a popularity of 2 / 13
  const auto filled = Filled(counts, context, {2, 3, 4, 7});
  CHECK(SignalOf(filled[0], Signal::kTransitionScore) == Approx((2 + 2.0 / 13) / 4));
  CHECK(SignalOf(filled[1], Signal::kTransitionScore) > SignalOf(filled[2], Signal::kTransitionScore));
  CHECK(SignalOf(filled[3], Signal::kTransitionScore) == 0);
  CHECK(SignalOf(filled[0], Signal::kTransitionSecondLast) == 0);
  const auto second = Filled(counts, ContextOf({1, 9}), {2, 3});
  CHECK(SignalOf(second[0], Signal::kTransitionSecondLast) == Approx(0.5));
  CHECK(SignalOf(second[1], Signal::kTransitionSecondLast) == Approx(0.25));
}

TEST_CASE("the signals of a candidate are the scores that the sources give") {
  std::mt19937 random(7);
  std::vector<std::vector<ItemOrdinal>> users(40);
  for (auto& history : users) {
    for (int i = 0; i < 12; ++i) history.push_back(random() % 30);
  }
  BehaviourCounts counts({});
  counts.AddAll(Histories(users));
  const RequestContext context = ContextOf({3, 4, 5, 6});
  for (const ScoredItem& item : counts.CoVisited(context, 50))
    CHECK(SignalOf(Filled(counts, context, {item.item})[0], Signal::kCovisitationScore) ==
          Approx(item.score));
  for (const ScoredItem& item : counts.Transitions(context, 50))
    CHECK(SignalOf(Filled(counts, context, {item.item})[0], Signal::kTransitionScore) == Approx(item.score));
  for (const ScoredItem& item : counts.Popular(context, 50))
    CHECK(SignalOf(Filled(counts, context, {item.item})[0], Signal::kPopularityScore) == Approx(item.score));
}

TEST_CASE("co-visitation without a history is missing, and nought where nothing was counted") {
  BehaviourCounts counts({});
  counts.AddAll(Histories({{1, 2}}));
  CHECK(std::isnan(SignalOf(Filled(counts, ContextOf({}), {2})[0], Signal::kCovisitationScore)));
  CHECK(SignalOf(Filled(counts, ContextOf({1}), {8})[0], Signal::kCovisitationScore) == 0);
  CHECK(std::isnan(SignalOf(Filled(counts, ContextOf({1}), {2})[0], Signal::kCovisitationSecondLast)));
  CHECK(std::isnan(SignalOf(Filled(counts, ContextOf({1}), {8})[0], Signal::kPopularityScore)));
}

TEST_CASE("allowed and excluded items hold in every list, however few are left") {
  std::vector<std::vector<ItemOrdinal>> users;
  for (ItemOrdinal item = 0; item < 400; ++item) users.push_back({1000, item});
  for (int i = 0; i < 3; ++i) users.push_back({1000, 399});
  BehaviourCounts counts({});
  counts.AddAll(Histories(users));
  RequestContext context = ContextOf({1000});
  context.allowed = Only({0, 5, 399, 777});
  context.excluded = {5};
  CHECK(ItemsOf(counts.CoVisited(context, 10)) == std::vector<ItemOrdinal>{399, 0});
  CHECK(ItemsOf(counts.Transitions(context, 10)) == std::vector<ItemOrdinal>{399, 0});
  CHECK(ItemsOf(counts.Popular(context, 10)) == std::vector<ItemOrdinal>{399, 0});
  CHECK(ItemsOf(counts.Popular(context, 1)) == std::vector<ItemOrdinal>{399});
}

TEST_CASE("a row that is full gives up its lightest pairs and keeps the heavy ones") {
  BehaviourCounts counts({.neighbours = 8});
  Interactions interactions;
  std::vector<std::vector<ItemOrdinal>> users;
  for (ItemOrdinal item = 1; item <= 4; ++item) {
    for (int i = 0; i < 5; ++i) users.push_back({0, item});
  }
  for (ItemOrdinal item = 100; item < 200; ++item) users.push_back({0, item});
  counts.AddAll(Histories(users));
  const auto found = ItemsOf(counts.Transitions(ContextOf({0}), 100));
  CHECK(found.size() <= 8);
  for (ItemOrdinal item = 1; item <= 4; ++item)
    CHECK(std::find(found.begin(), found.end(), item) != found.end());
  // Probabilities are still of all 120 transitions.
  CHECK(counts.Transitions(ContextOf({0}), 1)[0].score == Approx(5.0 / 120).margin(0.001));
}

// Brute force: all pairs of each history, from the definition.
std::map<std::pair<ItemOrdinal, ItemOrdinal>, double> PairsByHand(const Interactions& interactions) {
  std::map<std::pair<ItemOrdinal, ItemOrdinal>, double> pairs;
  for (size_t u = 0; u < interactions.user_count(); ++u) {
    const auto items = interactions.ItemsOf(u);
    for (size_t i = 0; i < items.size(); ++i) {
      for (size_t j = i + 1; j < items.size() && j - i <= 5; ++j) {
        if (items[i] == items[j]) continue;
        pairs[{items[i], items[j]}] += std::pow(.8, static_cast<double>(j - i - 1));
        pairs[{items[j], items[i]}] += .3 * std::pow(.8, static_cast<double>(j - i - 1));
      }
    }
  }
  return pairs;
}

TEST_CASE("the order of arrival does not change the counts") {
  std::mt19937 random(11);
  for (int trial = 0; trial < 5; ++trial) {
    std::vector<std::vector<ItemOrdinal>> users(8);
    for (auto& history : users) {
      for (int i = 0; i < 25; ++i) history.push_back(random() % 12);
    }
    const Interactions interactions = Histories(users);
    BehaviourCounts live({});
    for (size_t u = 0; u < users.size(); ++u) {
      std::vector<size_t> arrival(users[u].size());
      for (size_t i = 0; i < arrival.size(); ++i) arrival[i] = i;
      std::shuffle(arrival.begin(), arrival.end(), random);
      std::vector<size_t> known;  // positions that have arrived, ascending
      for (size_t position : arrival) {
        auto at = std::lower_bound(known.begin(), known.end(), position);
        std::vector<ItemOrdinal> before, after;
        for (auto i = known.begin(); i != at; ++i) before.push_back(users[u][*i]);
        for (auto i = at; i != known.end(); ++i) after.push_back(users[u][*i]);
        live.AddBetween(before, users[u][position], after,
                        absl::FromUnixSeconds(static_cast<int64_t>(position)));
        known.insert(at, position);
      }
    }
    const auto pairs = PairsByHand(interactions);
    std::map<ItemOrdinal, int> count;
    for (ItemOrdinal item : interactions.items) ++count[item];
    BehaviourCounts bulk({});
    bulk.AddAll(interactions);
    for (ItemOrdinal item = 0; item < 12; ++item) {
      const RequestContext context = ContextOf({item});
      std::map<ItemOrdinal, double> by_hand;
      for (const auto& [pair, weight] : pairs) {
        if (pair.first == item)
          by_hand[pair.second] = weight / std::sqrt(1.0 * count[item] * count[pair.second]);
      }
      for (const BehaviourCounts* counts : {&live, &bulk}) {
        const auto found = counts->CoVisited(context, 100);
        REQUIRE(found.size() == by_hand.size());
        for (const ScoredItem& other : found) CHECK(other.score == Approx(by_hand[other.item]).epsilon(1e-4));
      }
      const auto a = live.Transitions(context, 100), b = bulk.Transitions(context, 100);
      REQUIRE(a.size() == b.size());
      for (size_t i = 0; i < a.size(); ++i) CHECK(a[i].score == Approx(b[i].score).epsilon(1e-6));
    }
  }
}

TEST_CASE("the first event of an item is the earliest by event time, in whatever order they come") {
  BehaviourCounts counts({});
  counts.Add({}, 3, absl::FromUnixSeconds(50));
  counts.Add({}, 3, absl::FromUnixSeconds(20));
  counts.Add({}, 3, absl::FromUnixSeconds(70));
  counts.Add({}, 4, absl::FromUnixSeconds(-5));
  std::vector<absl::Time> times(3);
  counts.FirstEvents({3, 4, 9}, absl::MakeSpan(times));
  CHECK(times == std::vector<absl::Time>{absl::FromUnixSeconds(20), absl::FromUnixSeconds(-5),
                                         absl::InfiniteFuture()});
}

TEST_CASE("counts come back from their file as they were") {
  const auto folder = std::filesystem::temp_directory_path() / "waymark_counts_test";
  std::filesystem::remove_all(folder);
  std::mt19937 random(3);
  std::vector<std::vector<ItemOrdinal>> users(50);
  for (auto& history : users) {
    for (int i = 0; i < 20; ++i) history.push_back(random() % 200);
  }
  BehaviourCounts counts({});
  counts.AddAll(Histories(users));
  REQUIRE(counts.Save(folder / "counts", 1234).ok());
  LogOffset position = 0;
  auto opened = BehaviourCounts::Open(folder / "counts", {}, &position);
  REQUIRE(opened.ok());
  CHECK(position == 1234);
  CHECK((*opened)->event_count() == 1000);
  const RequestContext context = ContextOf({5, 6, 7});
  CHECK((*opened)->CoVisited(context, 100) == counts.CoVisited(context, 100));
  CHECK((*opened)->Transitions(context, 100) == counts.Transitions(context, 100));
  CHECK((*opened)->Popular(context, 100) == counts.Popular(context, 100));
  const std::vector<ItemOrdinal> items{5, 6, 7, 5000};
  std::vector<absl::Time> saved(4), read(4);
  counts.FirstEvents(items, absl::MakeSpan(saved));
  (*opened)->FirstEvents(items, absl::MakeSpan(read));
  CHECK(saved == read);

  BehaviourCountsOptions other;
  other.window = 4;
  CHECK(BehaviourCounts::Open(folder / "counts", other, &position).status().code() ==
        absl::StatusCode::kFailedPrecondition);
  CHECK(BehaviourCounts::Open(folder / "none", {}, &position).status().code() == absl::StatusCode::kNotFound);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a counts file that is damaged anywhere is refused") {
  const auto folder = std::filesystem::temp_directory_path() / "waymark_counts_damage_test";
  std::filesystem::remove_all(folder);
  BehaviourCounts counts({});
  counts.AddAll(Histories({{1, 2, 3}, {4, 1}}));
  REQUIRE(counts.Save(folder / "counts", 9).ok());
  std::ifstream in(folder / "counts", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  LogOffset position = 0;
  for (size_t at = 0; at < bytes.size(); at += 7) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    std::ofstream(folder / "bad", std::ios::binary) << damaged;
    CHECK(BehaviourCounts::Open(folder / "bad", {}, &position).status().code() ==
          absl::StatusCode::kDataLoss);
    std::ofstream(folder / "bad", std::ios::binary) << bytes.substr(0, at);
    CHECK(BehaviourCounts::Open(folder / "bad", {}, &position).status().code() ==
          absl::StatusCode::kDataLoss);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace waymark
