// Weights of ordered item pairs, a row of neighbours for each item: what follows what, and how closely.
//
// A row holds at most `neighbours` pairs. When it is full, the lightest quarter goes: the room lets newcomers
// gather weight before the next cut, where dropping one at a time would push out each newcomer by the next.
// A pair that comes back starts from nothing.
//
// Thread-safe: many readers beside one writer; rows lie in 64 shards, each with a lock that is held while one
// row is copied or changed. A plain lock: with glibc's reader-writer lock busy readers starve the writer.
#pragma once
#include <array>
#include <mutex>
#include <vector>

#include "absl/types/span.h"
#include "recommend/checked_file.h"
#include "store/ids.h"

namespace waymark {

struct PairEntry {
  ItemOrdinal item = kNoItem;
  float weight = 0;          // co-visitation: sum of the distance weights
  uint32_t transitions = 0;  // how often the item came directly after the row's
};

class PairRows {
 public:
  explicit PairRows(size_t neighbours);

  // Adds to the pair (from, to); a pair that has come to nothing is removed. `transitions` may be negative.
  void Add(ItemOrdinal from, ItemOrdinal to, double weight, int transitions);
  // Sorted by item; `transitions`: from this item to any, those of dropped pairs among them.
  void Read(ItemOrdinal item, std::vector<PairEntry>* entries, uint64_t* transitions) const;
  // The pairs of one row with `items`; entries that are not there are zero. Answers all transitions of the
  // row.
  uint64_t ReadPairs(ItemOrdinal item, absl::Span<const ItemOrdinal> items,
                     absl::Span<PairEntry> entries) const;

  void Save(CheckedWriter* writer) const;
  absl::Status Load(CheckedReader* reader);

 private:
  struct Row {
    std::vector<PairEntry> entries;  // sorted by item
    uint64_t transitions = 0;
  };
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    std::vector<Row> rows;  // under mutex
  };
  static constexpr size_t kShards = 64;
  const Shard& ShardOf(ItemOrdinal item) const { return shards_[item % kShards]; }
  void DropLightest(Row* row) const;

  const size_t neighbours_;
  std::array<Shard, kShards> shards_;
};

}  // namespace waymark
