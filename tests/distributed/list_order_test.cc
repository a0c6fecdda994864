#include "training/distributed/list_order.h"

#include <set>

#include "tests/support/catch.h"

namespace waymark {
namespace {

// Files of 3, 4, 5, ... lists, of 1,000 bytes each.
storage::ListsIndex IndexOf(int files) {
  storage::ListsIndex index;
  for (int f = 0; f < files; ++f) {
    auto* file = index.add_files();
    file->set_examples(3 + f);
    file->set_raw_bytes(1000);
    index.set_lists(index.lists() + 3 + f);
  }
  return index;
}

TEST_CASE("an epoch deals every file to one part, in chunks that fit, and another epoch deals anew") {
  const storage::ListsIndex index = IndexOf(10);
  const auto orders = OrderOfLists(index, 3, 1, 0, 2500);
  std::multiset<int> files;
  int64_t lists = 0;
  for (const PartOrder& order : orders) {
    int64_t in_part = 0;
    for (const ListChunk& chunk : order.chunks) {
      CHECK(chunk.files.size() <= 2);  // 2,500 bytes hold two
      CHECK(chunk.first == in_part);
      int64_t in_chunk = 0;
      for (int f : chunk.files) {
        in_chunk += 3 + f;
        files.insert(f);
      }
      CHECK(chunk.lists == in_chunk);
      in_part += in_chunk;
    }
    CHECK(order.lists == in_part);
    lists += in_part;
  }
  CHECK(lists == index.lists());
  CHECK(files == std::multiset<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  const auto again = OrderOfLists(index, 3, 1, 0, 2500), next = OrderOfLists(index, 3, 1, 1, 2500);
  bool other = false;
  for (size_t p = 0; p < 3; ++p) {
    CHECK(again[p].chunks[0].files == orders[p].chunks[0].files);
    other = other || next[p].chunks[0].files != orders[p].chunks[0].files;
  }
  CHECK(other);
}

TEST_CASE("a file that is larger than a chunk is one") {
  const auto orders = OrderOfLists(IndexOf(4), 2, 1, 0, 10);
  for (const PartOrder& order : orders) {
    CHECK(order.chunks.size() == 2);
    for (const ListChunk& chunk : order.chunks) CHECK(chunk.files.size() == 1);
  }
}

TEST_CASE("batches take all lists of a part, and differ by at most one list") {
  for (const int64_t lists : {0, 1, 7, 100, 101}) {
    for (const int64_t batches : {1, 3, 8}) {
      PartOrder order;
      order.lists = lists;
      CHECK(order.FirstOf(0, batches) == 0);
      CHECK(order.FirstOf(batches, batches) == lists);
      for (int64_t b = 0; b < batches; ++b) {
        const int64_t of_batch = order.FirstOf(b + 1, batches) - order.FirstOf(b, batches);
        CHECK(of_batch >= lists / batches);
        CHECK(of_batch <= lists / batches + 1);
      }
    }
  }
  CHECK(BatchesOfLists(IndexOf(10), 10) == 8);  // 75 lists
  CHECK(BatchesOfLists(IndexOf(10), 1000) == 1);
}

TEST_CASE("a chunk's order is a permutation that changes with epoch, part and chunk") {
  const auto order = OrderInChunk(50, 1, 2, 3, 4);
  CHECK(std::set<uint32_t>(order.begin(), order.end()).size() == 50);
  CHECK(*std::max_element(order.begin(), order.end()) == 49);
  CHECK(order == OrderInChunk(50, 1, 2, 3, 4));
  CHECK(order != OrderInChunk(50, 2, 2, 3, 4));
  CHECK(order != OrderInChunk(50, 1, 3, 3, 4));
  CHECK(order != OrderInChunk(50, 1, 2, 4, 4));
  CHECK(order != OrderInChunk(50, 1, 2, 3, 5));
}

}  // namespace
}  // namespace waymark
