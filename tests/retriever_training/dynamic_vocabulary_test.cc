#include "training/retriever/dynamic_vocabulary.h"

#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <tuple>

#include "recommend/network/counter_random.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

using Catch::Matchers::Contains;
using Changes = std::vector<RowChange>;

// The same by the words of the header, and nothing kept in order: every question looks at all items.
class PlainVocabulary {
 public:
  PlainVocabulary(int64_t items, const VocabularyPolicy& policy) : items_(items), policy_(policy) {}

  void BeginEpoch() {
    for (int64_t i = 0; i < items_; ++i) {
      if (!row_.contains(i)) forget(i);
    }
  }

  Changes See(std::vector<int64_t> read, int64_t step) {
    for (int64_t i : read) ++count_[i], last_[i] = step;
    std::vector<std::pair<int64_t, int64_t>> coming;  // most read first, then by number
    for (int64_t i : std::set<int64_t>(read.begin(), read.end())) {
      if (!row_.contains(i) && count_[i] >= policy_.admit_after) coming.push_back({-count_[i], i});
    }
    std::sort(coming.begin(), coming.end());
    Changes changes;
    const auto rows = static_cast<size_t>(policy_.max_rows > 0 ? policy_.max_rows : items_);
    for (const auto& [_, i] : coming) {
      if (row_.size() < rows) {
        const auto row = static_cast<int64_t>(row_.size());
        row_[i] = row;
        changes.push_back({row, i});
        continue;
      }
      int64_t leaving = row_.begin()->first;
      for (const auto& [other, row] : row_) leaving = Standing(other) < Standing(leaving) ? other : leaving;
      const bool recent = policy_.evict == EvictionRule::kLeastRecent;
      if (recent ? last_[leaving] >= last_[i] : count_[leaving] >= count_[i]) continue;
      const int64_t row = row_[leaving];
      row_.erase(leaving);
      forget(leaving);
      row_[i] = row;
      changes.push_back({row, i, leaving});
    }
    return changes;
  }

  int64_t RowOf(int64_t item) const { return row_.contains(item) ? row_.at(item) : -1; }

 private:
  std::tuple<int64_t, int64_t, int64_t> Standing(int64_t i) {
    if (policy_.evict == EvictionRule::kLeastRecent) return {last_[i], count_[i], i};
    return {count_[i], last_[i], i};
  }
  void forget(int64_t i) { count_[i] = last_[i] = 0; }

  int64_t items_;
  VocabularyPolicy policy_;
  std::map<int64_t, int64_t> count_, last_, row_;
};

TEST_CASE("A full table gives the row of the least frequent item to one that was read more often") {
  DynamicVocabulary v(5, {.admit_after = 2, .max_rows = 2});
  CHECK(v.See({0, 1, 2}, 1).empty());
  CHECK(v.See({1, 0, 0}, 2) == Changes{{0, 0}, {1, 1}});  // 0 has been read three times, 1 twice
  CHECK(v.See({2}, 3).empty());                           // twice, as 1 was: 1 stays
  CHECK(v.See({2, 3}, 4) == Changes{{1, 2, 1}});          // three times
  CHECK(v.rows_of_items() == std::vector<int64_t>{0, -1, 1, -1, -1});
  // 1 was forgotten with its count: three reads are no more than those of 0 and 2.
  CHECK(v.See({1, 1, 1}, 5).empty());
  // 0 and 2 have been read three times; 0 was read before 2.
  CHECK(v.See({1}, 6) == Changes{{0, 1, 0}});
  CHECK(v.used() == 2);
  CHECK(v.admitted() == 4);
  CHECK(v.evicted() == 2);
  // 3 has been read once, and in the next epoch twice.
  v.BeginEpoch();
  CHECK(v.See({3}, 7).empty());
  CHECK(v.See({3, 3, 3, 3}, 8) == Changes{{1, 3, 2}});
}

TEST_CASE("By recency the item that was read longest ago leaves, and none that the same step reads") {
  DynamicVocabulary v(5, {.max_rows = 2, .evict = EvictionRule::kLeastRecent});
  CHECK(v.See({3, 4, 4}, 1) == Changes{{0, 4}, {1, 3}});
  CHECK(v.See({3}, 2).empty());
  CHECK(v.See({0}, 3) == Changes{{0, 0, 4}});
  CHECK(v.See({1, 2, 0}, 4) == Changes{{1, 1, 3}});  // 2 finds 0 and 1 as recent as itself
}

TEST_CASE(
    "Any policy does on random reads what a search through all items does, and goes on from its state") {
  constexpr int64_t kItems = 60;
  for (const EvictionRule evict : {EvictionRule::kLeastFrequent, EvictionRule::kLeastRecent}) {
    for (const int64_t rows : {0, 1, 7, 30, 60, 100}) {
      for (const int64_t after : {1, 2, 5}) {
        const VocabularyPolicy policy{after, rows, evict};
        DynamicVocabulary fast(kItems, policy);
        PlainVocabulary plain(kItems, {after, policy.RowsFor(kItems), evict});
        int64_t evicted = 0;
        for (int64_t step = 1; step <= 300; ++step) {
          const uint64_t key =
              RandomKey(9, {static_cast<uint64_t>(step), static_cast<uint64_t>(100 * rows + after)});
          if (step % 40 == 1) fast.BeginEpoch(), plain.BeginEpoch();
          std::vector<int64_t> read;
          for (uint64_t n = 0; n < 20; ++n) {
            const double u = RandomUnit(key, n);
            read.push_back(static_cast<int64_t>(kItems * u * u * u));  // some far more often than others
          }
          const Changes changes = fast.See(read, step);
          REQUIRE(changes == plain.See(read, step));
          for (const RowChange& change : changes) evicted += change.evicted >= 0;
          for (int64_t i = 0; i < kItems; ++i) REQUIRE(fast.rows_of_items()[i] == plain.RowOf(i));
          REQUIRE(fast.evicted() == evicted);
          if (step % 50 != 0) continue;
          std::vector<float> state((kItems + 1) * DynamicVocabulary::kStateColumns);
          fast.Write(state.data());
          for (float number : state) REQUIRE(std::isfinite(number));
          DynamicVocabulary again(kItems, policy);
          REQUIRE(again.Read(state.data()).ok());
          REQUIRE(again.admitted() == fast.admitted());
          fast = again;
        }
        if (rows == 7) CHECK(evicted > 0);
      }
    }
  }
}

TEST_CASE("The order of a step's reads does not matter") {
  DynamicVocabulary one(6, {.admit_after = 2, .max_rows = 2}), other = one;
  CHECK(one.See({5, 1, 1, 5, 2, 2, 2}, 1) == other.See({2, 1, 5, 2, 5, 2, 1}, 1));
  CHECK(one.rows_of_items() == std::vector<int64_t>{-1, 1, 0, -1, -1, -1});
}

TEST_CASE("Rows that are given go to whoever is read, and there are as many as the table has") {
  DynamicVocabulary v(5, {.max_rows = 2});
  CHECK(v.Give(3));
  CHECK(v.Give(3));
  CHECK(v.Give(1));
  CHECK_FALSE(v.Give(0));
  CHECK(v.rows_of_items() == std::vector<int64_t>{-1, 1, -1, 0, -1});
  CHECK(v.See({4, 3}, 1) == Changes{{1, 4, 1}});
}

TEST_CASE("A state that gives two items one row, or leaves one out, is refused") {
  DynamicVocabulary v(4, {.max_rows = 3});
  v.See({0, 1, 2}, 1);
  std::vector<float> state(5 * 3);
  v.Write(state.data());
  const auto refused = [&](size_t place, int32_t number) {
    std::vector<float> other = state;
    std::memcpy(&other[place], &number, sizeof(number));
    return std::string(v.Read(other.data()).message());
  };
  CHECK(v.Read(state.data()).ok());
  CHECK_THAT(refused(3 * 3 + 2, 1), Contains("which item has it"));   // item 3 too in the first row
  CHECK_THAT(refused(0 * 3 + 2, 0), Contains("which item has it"));   // item 0 in none
  CHECK_THAT(refused(1 * 3 + 2, -7), Contains("which item has it"));  // item 1 in no row that there is
  CHECK_THAT(refused(1 * 3 + 2, 40), Contains("which item has it"));
  CHECK_THAT(refused(4 * 3 + 2, 9), Contains("which item has it"));  // more rows than the table has
}

TEST_CASE("A policy limits when an item can be without a row") {
  CHECK_FALSE(VocabularyPolicy{}.Limits(10));
  CHECK_FALSE(VocabularyPolicy{.max_rows = 10}.Limits(10));
  CHECK(VocabularyPolicy{.max_rows = 9}.Limits(10));
  CHECK(VocabularyPolicy{.admit_after = 2}.Limits(10));
  CHECK(VocabularyPolicy{.max_rows = 30}.RowsFor(10) == 10);
  CHECK(VocabularyPolicy{.max_rows = 3}.RowsFor(10) == 3);
}

}  // namespace
}  // namespace waymark
