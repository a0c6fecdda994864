#include "training/distributed/list_order.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "recommend/network/counter_random.h"
#include "training/distributed/epoch_parts.h"

namespace waymark {
namespace {

constexpr uint64_t kListOrder = 25;  // beside the purposes of epoch_parts.cc

}  // namespace

std::vector<PartOrder> OrderOfLists(const storage::ListsIndex& index, int parts, uint64_t seed,
                                    uint64_t epoch, int64_t chunk_bytes) {
  const auto files = FilesOfParts(index.files_size(), parts, seed, epoch);
  std::vector<PartOrder> orders(static_cast<size_t>(parts));
  for (size_t p = 0; p < orders.size(); ++p) {
    PartOrder& order = orders[p];
    int64_t bytes = 0;
    for (int f : files[p]) {
      const auto& file = index.files(f);
      if (order.chunks.empty() || bytes + file.raw_bytes() > chunk_bytes) {
        order.chunks.push_back({{}, order.lists, 0});
        bytes = 0;
      }
      order.chunks.back().files.push_back(f);
      order.chunks.back().lists += file.examples();
      order.lists += file.examples();
      bytes += file.raw_bytes();
    }
  }
  return orders;
}

int64_t BatchesOfLists(const storage::ListsIndex& index, int lists_per_batch) {
  return std::max<int64_t>(1, std::llround(static_cast<double>(index.lists()) / lists_per_batch));
}

std::vector<uint32_t> OrderInChunk(int64_t lists, uint64_t seed, uint64_t epoch, uint64_t part,
                                   size_t chunk) {
  std::vector<uint32_t> order(static_cast<size_t>(lists));
  std::iota(order.begin(), order.end(), uint32_t{0});
  const uint64_t key = RandomKey(seed, {epoch, kListOrder, part, chunk});
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[RandomBelow(key, i, i)]);
  return order;
}

}  // namespace waymark
