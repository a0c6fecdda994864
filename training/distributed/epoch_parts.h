// An epoch's order over ranks: a function of (shards, seed, epoch) alone, whatever the number of ranks.
//
// A batch has a fixed number of parts. In each epoch the files are dealt to the parts in another order; a
// part cuts the histories of its files into windows, shuffles them, and lays them evenly over the epoch's
// batches. Rank r works on the parts r, r + ranks, ..., and reads their files alone.
//
//   std::vector<std::vector<int>> files = FilesOfParts(32, 4, seed, epoch);
//   absl::StatusOr<EpochData> data = LoadEpoch(reader, index, options, {0, 2}, 4, epoch);
//   data->windows[0][b];  // of part 0, for batch b
#pragma once
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "recommend/interactions.h"
#include "training/retriever/retriever_options.h"
#include "training/retriever/window_batches.h"
#include "training/shards/shard_reader.h"

namespace waymark {

// [parts]: the files of each, in the order in which they are read.
std::vector<std::vector<int>> FilesOfParts(int files, int parts, uint64_t seed, uint64_t epoch);
// Batches of an epoch, by what there is to predict.
int64_t BatchesOfShards(const storage::ExamplesIndex& index, const RetrieverOptions& options);
// Parts of a rank.
std::vector<uint64_t> PartsOfRank(int parts, int rank, int ranks);

// What a rank holds of an epoch.
struct EpochData {
  Interactions events;        // users, starts, times_us; no items or offsets
  std::vector<int64_t> rows;  // [events]
  std::vector<uint64_t> ends;
  std::vector<std::vector<std::vector<TrainingWindow>>> windows;  // [own parts][batches]
  std::vector<int64_t> tokens;                                    // [batches], of the own parts
  std::vector<size_t> validation;                                 // users that are validated on
};

absl::StatusOr<EpochData> LoadEpoch(const ShardReader& reader, const storage::ExamplesIndex& index,
                                    const RetrieverOptions& options, const std::vector<uint64_t>& own,
                                    int parts, uint64_t epoch);

}  // namespace waymark
