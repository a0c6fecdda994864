#include "catalog/item_set.h"

#include <random>

#include "catalog/dense_bitmap.h"
#include "catalog/item_set_impl.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

std::vector<uint8_t> DenseByHand(const std::vector<ItemOrdinal>& items, uint32_t bits) {
  std::vector<uint8_t> dense((bits + 7) / 8, 0);
  for (const ItemOrdinal item : items) {
    if (item < bits) dense[item / 8] = static_cast<uint8_t>(dense[item / 8] | (1u << (item % 8)));
  }
  return dense;
}

TEST_CASE("A set of items answers what it was made of") {
  const ItemSet set = ItemSet::Of({70000, 3, 5, 3});
  CHECK(set.Size() == 3);
  CHECK(set.Contains(3));
  CHECK_FALSE(set.Contains(4));
  CHECK(set.ToVector() == std::vector<ItemOrdinal>{3, 5, 70000});
  CHECK(ItemSet().Size() == 0);
  CHECK(ItemSet().ToVector().empty());
}

TEST_CASE("Visiting a set of items goes in order and stops when told") {
  std::vector<ItemOrdinal> seen;
  ItemSet::Of({9, 1, 4}).ForEach([&](ItemOrdinal item) {
    seen.push_back(item);
    return item != 4;
  });
  CHECK(seen == std::vector<ItemOrdinal>{1, 4});
}

TEST_CASE("A dense bitmap has the least significant bit first") {
  CHECK(ItemSet::Of({0, 9}).ToBitmap(10) == std::vector<uint8_t>{0x01, 0x02});
  CHECK(ItemSet::Of({0, 9}).ToBitmap(9) == std::vector<uint8_t>{0x01, 0x00});
  CHECK(ItemSet().ToBitmap(3) == std::vector<uint8_t>{0});
  CHECK(ItemSet::Of({1}).ToBitmap(0).empty());
}

TEST_CASE("Dense bitmaps of sparse, dense and run-shaped sets equal those made bit by bit") {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    Bitmap bits;
    const uint32_t end = 1 + random() % 400000;
    const int shape = round % 4;
    if (shape == 0) {
      for (int i = 0; i < 500; ++i) bits.add(random() % end);
    } else if (shape == 1) {
      for (int i = 0; i < 150000; ++i) bits.add(random() % end);
    } else {
      for (int i = 0; i < 1 + round % 7; ++i) {
        const uint32_t first = random() % end;
        bits.addRange(first, first + random() % 90000);
      }
      if (shape == 3) bits.add(random() % end);
      bits.runOptimize();
    }
    const ItemSet set = MakeItemSet(bits);
    const uint32_t asked = 1 + random() % 500000;
    CHECK(set.ToBitmap(asked) == DenseByHand(set.ToVector(), asked));
    // And back.
    std::vector<uint64_t> words(10000, 0);
    set.ForEach([&](ItemOrdinal item) { return words[item / 64] |= uint64_t{1} << (item % 64), true; });
    CHECK(FromDense(words) == bits);
  }
}

}  // namespace
}  // namespace waymark
