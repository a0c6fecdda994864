// An epoch's order of ranking lists over ranks: a function of (index, seed, epoch) alone, whatever the number
// of ranks.
//
// The files are dealt to the parts of a batch anew in each epoch, as those of histories are (epoch_parts.h).
// A part goes through its files in chunks that fit in memory and shuffles the lists of a chunk; batch b of an
// epoch takes the lists [lists * b / batches, lists * (b + 1) / batches) of each part. So a rank knows from
// the index alone how large every batch is, and a run that goes on opens only the files it needs.
#pragma once
#include <cstdint>
#include <vector>

#include "waymark/storage/lists.pb.h"

namespace waymark {

struct ListChunk {
  std::vector<int> files;
  int64_t first = 0, lists = 0;  // of the part's lists in this epoch
};

struct PartOrder {
  std::vector<ListChunk> chunks;
  int64_t lists = 0;
  int64_t FirstOf(int64_t batch, int64_t batches) const {
    return static_cast<int64_t>(static_cast<__int128>(lists) * batch / batches);
  }
};

inline constexpr int64_t kChunkBytes = int64_t{32} << 20;  // unpacked; a larger file is a chunk alone

// [parts]
std::vector<PartOrder> OrderOfLists(const storage::ListsIndex& index, int parts, uint64_t seed,
                                    uint64_t epoch, int64_t chunk_bytes = kChunkBytes);
int64_t BatchesOfLists(const storage::ListsIndex& index, int lists_per_batch);
// The order in which a chunk's lists are taken.
std::vector<uint32_t> OrderInChunk(int64_t lists, uint64_t seed, uint64_t epoch, uint64_t part, size_t chunk);

}  // namespace waymark
