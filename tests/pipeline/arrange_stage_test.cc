#include "pipeline/arrange_stage.h"

#include "tests/support/catch.h"

namespace waymark {
namespace {

TEST_CASE("without diversity the order stays") {
  std::vector<ArrangeItem> items = {{1, 3, {7}}, {2, 2, {7}}, {3, 1, {8}}};
  CHECK(Diversify(items, 0.0, 10) == std::vector<size_t>{0, 1, 2});
}

TEST_CASE("marginal relevance as worked by hand") {
  // Scores scaled to 0..1: 1, .75, .5, 0. Categories: a a b a; diversity .5.
  // First: item 0. Then item 1: .375 - .5 = -.125, item 2: .25 - 0 = .25 (taken), item 3: 0 - .5.
  // Then item 1: -.125 against item 3: -.5.
  std::vector<ArrangeItem> items = {{1, 8, {1}}, {2, 7, {1}}, {3, 6, {2}}, {4, 4, {1}}};
  CHECK(Diversify(items, 0.5, 10) == std::vector<size_t>{0, 2, 1, 3});
}

TEST_CASE("overlap of categories is Jaccard's, whatever their order") {
  // Item 1 shares one of three categories with item 0 (1/3), item 2 shares both (1).
  // r: 1, .2, .3, 0. diversity .5: item 1: .1 - .1667 = -.0667, item 2: .15 - .5 = -.35, item 3: 0 - 0 = 0
  // (taken).
  std::vector<ArrangeItem> items = {{1, 10, {5, 3}}, {2, 3, {9, 5}}, {3, 2, {3, 5}}, {4, 0, {11}}};
  items[1].score = 3, items[2].score = 2;
  // Scaled: 1, .3, .2, 0: item 1: .15 - 1/6 = -.0167, item 2: .1 - .5 = -.4, item 3: 0.
  CHECK(Diversify(items, 0.5, 10) == std::vector<size_t>{0, 3, 1, 2});
}

TEST_CASE("only the first `depth` items move") {
  std::vector<ArrangeItem> items = {{1, 8, {1}}, {2, 7, {1}}, {3, 6, {1}}, {4, 4, {2}}};
  CHECK(Diversify(items, 0.9, 3) == std::vector<size_t>{0, 1, 2, 3});
}

TEST_CASE("a page passes over what is hidden and says where the next one starts") {
  const auto even = [](size_t i) { return i % 2 == 0; };
  Page page = TakePage(10, 0, 3, even);
  CHECK(page.indexes == std::vector<size_t>{0, 2, 4});
  CHECK(page.next == 5);
  page = TakePage(10, page.next, 3, even);
  CHECK(page.indexes == std::vector<size_t>{6, 8});
  CHECK(page.next == 10);
}

TEST_CASE("pins stand at their places among the others") {
  const auto put = [](std::vector<size_t> order, std::vector<Pin> pins) { return PutPins(order, pins); };
  // Index 3 is wanted first, 9 (which is at the end of the list) third.
  PinnedOrder out = put({0, 1, 2, 3, 4, 9}, {{3, 0}, {9, 2}});
  CHECK(out.order == std::vector<size_t>{3, 0, 9, 1, 2, 4});
  CHECK(out.pinned == std::vector<uint32_t>{0, 2});
  // Two for one place: the second has the next one that is free, which a third has taken already.
  out = put({0, 1, 2, 3, 4}, {{4, 1}, {3, 2}, {2, 1}});
  CHECK(out.order == std::vector<size_t>{0, 4, 3, 2, 1});
  CHECK(out.pinned == std::vector<uint32_t>{1, 2, 3});
  // Beyond the end, and of an item twice: the first counts.
  out = put({0, 1, 2}, {{2, 40}, {1, 30}, {1, 0}});
  CHECK(out.order == std::vector<size_t>{0, 1, 2});
  CHECK(out.pinned == std::vector<uint32_t>{1, 2});
  CHECK(put({}, {}).order.empty());
}

TEST_CASE("boosts multiply, and move up in lists with scores below 0 too") {
  CHECK(BoostedScores(std::vector<double>{4, 2, 1}, std::vector<double>{1, 3, 0.5}) ==
        std::vector<double>{4, 6, 0.5});
  // Counted from -2: 3, 1, 0 become 3, 4, 0.
  CHECK(BoostedScores(std::vector<double>{1, -1, -2}, std::vector<double>{1, 4, 2}) ==
        std::vector<double>{1, 2, -2});
}

}  // namespace
}  // namespace waymark
