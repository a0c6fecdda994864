// The lists of one part of the batches, in the order of list_order.h, read from shards: the next chunk while
// this one is trained on, so that at most two are in memory.
//
//   ListStream stream(&reader, &index, part, {.seed = 1, .parts = 4, .epochs = 12});
//   absl::Status read = stream.Read(epoch, batch, batches, &lists);
//
// One thread.
#pragma once
#include <future>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "training/distributed/list_order.h"
#include "training/shards/list_reader.h"

namespace waymark {

struct ListStreamOptions {
  uint64_t seed = 1;
  int parts = 4;
  int64_t epochs = 1;
  int64_t chunk_bytes = kChunkBytes;
};

class ListStream {
 public:
  ListStream(const ListReader* reader, const storage::ListsIndex* index, uint64_t part,
             const ListStreamOptions& options)
      : reader_(reader), index_(index), part_(part), options_(options) {}
  // lists: cleared, then the part's lists of the batch. DATA_LOSS names the file and the record.
  absl::Status Read(int64_t epoch, int64_t batch, int64_t batches, RankingLists* lists);

 private:
  struct Chunk {
    int64_t epoch = -1;
    size_t number = 0;
    RankingLists lists;
    std::vector<uint32_t> order;
  };
  using LoadedChunk = absl::StatusOr<std::unique_ptr<Chunk>>;

  const PartOrder& OrderOf(int64_t epoch);
  LoadedChunk Load(int64_t epoch, size_t number, const ListChunk& chunk) const;
  // Makes it the current one; the one after it begins to be read.
  absl::Status Take(int64_t epoch, size_t number);

  const ListReader* reader_;
  const storage::ListsIndex* index_;
  uint64_t part_;
  ListStreamOptions options_;
  PartOrder orders_[2];  // of the epoch that is read, and of the one that comes
  int64_t order_epochs_[2] = {-1, -1};
  std::unique_ptr<Chunk> current_;
  int64_t coming_epoch_ = -1;
  size_t coming_number_ = 0;
  std::future<LoadedChunk> coming_;
};

}  // namespace waymark
