#include "pipeline/group_stage.h"

#include "tests/support/catch.h"

namespace waymark {
namespace {

using Order = std::vector<size_t>;
using Sizes = std::vector<uint32_t>;

TEST_CASE("groups come in the order of their best, with the best of each behind it") {
  // The list: a b a c a b c.
  const uint64_t keys[] = {1, 2, 1, 3, 1, 2, 3};
  GroupedOrder grouped = GroupRanked(keys, 2, 100);
  CHECK(grouped.order == Order{0, 2, 1, 5, 3, 6});
  CHECK(grouped.sizes == Sizes{2, 2, 2});
  grouped = GroupRanked(keys, 1, 100);
  CHECK(grouped.order == Order{0, 1, 3});
  CHECK(grouped.sizes == Sizes{1, 1, 1});
  grouped = GroupRanked(keys, 9, 100);
  CHECK(grouped.order == Order{0, 2, 4, 1, 5, 3, 6});
  // Whole groups only: the third would make six of five.
  grouped = GroupRanked(keys, 2, 5);
  CHECK(grouped.order == Order{0, 2, 1, 5});
  CHECK(GroupRanked({}, 2, 5).order.empty());
}

TEST_CASE("the best of groups are ranked before others, within the limit") {
  std::vector<Candidate> candidates(4);
  for (size_t i = 0; i < 4; ++i) {
    candidates[i].item = static_cast<ItemOrdinal>(i);
    candidates[i].fusion_score = 1.0f + static_cast<float>(i);
  }
  const ScoredItem best[] = {{2, 9}, {77, 8}};
  PutFirst(best, 4, &candidates);
  REQUIRE(candidates.size() == 4);
  const ItemOrdinal expected[] = {2, 77, 0, 1};
  for (size_t i = 0; i < 4; ++i) CHECK(candidates[i].item == expected[i]);
  CHECK(candidates[0].fusion_score == 3);  // what is known of it is kept
  CHECK(candidates[1].fusion_score == 0);
  PutFirst(best, 1, &candidates);
  REQUIRE(candidates.size() == 1);
  CHECK(candidates[0].item == 2);
}

TEST_CASE("pages hold whole groups, and hidden items leave no gap in their number") {
  const uint32_t sizes[] = {2, 1, 3, 1};  // items 0 1 | 2 | 3 4 5 | 6
  const auto all = [](size_t) { return true; };
  Page page = TakeGroups(sizes, 0, 2, all);
  CHECK(page.indexes == Order{0, 1, 2});
  CHECK(page.next == 3);
  page = TakeGroups(sizes, 3, 2, all);
  CHECK(page.indexes == Order{3, 4, 5, 6});
  CHECK(page.next == 7);
  page = TakeGroups(sizes, 7, 2, all);
  CHECK(page.indexes.empty());
  CHECK(page.next == 7);
  // Items 0, 2 and 4 may not be shown: the group of 2 does not count.
  page = TakeGroups(sizes, 0, 2, [](size_t i) { return i != 0 && i != 2 && i != 4; });
  CHECK(page.indexes == Order{1, 3, 5});
  CHECK(page.next == 6);
  CHECK(TakeGroups({}, 0, 2, all).next == 0);
}

}  // namespace
}  // namespace waymark
