// Which items have a row of the id table, where not every item has one of its own. An item is admitted once
// an epoch has read it `admit_after` times (the exact counter filter of DeepRec and of Monolith, arXiv
// 2209.07663); where the table is full, the least frequently or least recently read item leaves its row (the
// eviction of TorchRec's managed collisions). An item that leaves is forgotten with its count: when it comes
// back, it begins anew. To the network, an item without a row is one that training has never seen: its
// content, and `items.unknown` in the place of an id.
//
//   DynamicVocabulary vocabulary(items, {.admit_after = 5, .max_rows = 100000});
//   vocabulary.BeginEpoch();
//   for (const RowChange& change : vocabulary.See(items_of_batch, step)) ...   // rows that begin anew
//   vocabulary.rows_of_items()[item];                                          // or kNoRow
//
// A function of what it is shown, step by step; the order within a step does not matter. No LibTorch here.
// One thread.
#pragma once
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace waymark {

enum class EvictionRule { kLeastFrequent, kLeastRecent };

struct VocabularyPolicy {
  int64_t admit_after = 1;  // times that an epoch reads an item, from 1
  int64_t max_rows = 0;     // of the table; 0: as many as there are items
  EvictionRule evict = EvictionRule::kLeastFrequent;

  int64_t RowsFor(int64_t items) const;
  // Whether any of so many items can be without a row; else each has its own from the start.
  bool Limits(int64_t items) const { return admit_after > 1 || RowsFor(items) < items; }
};

// What a training has made of it.
struct VocabularyUse {
  int64_t items = 0;
  int64_t rows = 0, used = 0;  // of the table, and those of them that items have
  int64_t admitted = 0, evicted = 0;
};

struct RowChange {
  int64_t row, item;
  int64_t evicted = -1;  // who had the row before; -1: nobody

  bool operator==(const RowChange&) const = default;
};

class DynamicVocabulary {
 public:
  static constexpr int64_t kStateColumns = 3;
  static constexpr int64_t kMostItems = (1 << 30) - 1;

  DynamicVocabulary(int64_t items, const VocabularyPolicy& policy);

  // A row for an item that was not read yet, while there is one that no item has; false: there is none. What
  // such an item loses its row to is any that is read.
  bool Give(int64_t item);
  // Items without a row are counted from zero. To say it again before anything is read changes nothing.
  void BeginEpoch();
  // Items that a step reads, as often as it does, in any order; `step` from 1, growing. What is answered
  // stays until the next call. An admitted item takes the row of the one that is last in the rule's order
  // (least frequent: by reads since it was forgotten or counted from zero, then by last step; least recent:
  // by last step, then by those reads; then by number), unless that one was read as often, or as recently, as
  // itself; of several items the most read one comes first.
  const std::vector<RowChange>& See(absl::Span<const int64_t> items, int64_t step);

  const std::vector<int64_t>& rows_of_items() const { return row_of_; }  // [items]; kNoRow: none
  int64_t items() const { return static_cast<int64_t>(row_of_.size()); }
  int64_t rows() const { return rows_; }                                  // of the table
  int64_t used() const { return static_cast<int64_t>(item_of_.size()); }  // rows that items have
  int64_t evicted() const { return evicted_; }                            // so far
  int64_t admitted() const { return used() + evicted_; }

  // All that it goes on from, for a checkpoint: [items + 1, kStateColumns], whole numbers below 2^30 as the
  // bits of floats (all of them finite).
  void Write(float* state) const;
  // Of the same number of items and the same policy. DATA_LOSS: it is no state of such a vocabulary.
  absl::Status Read(const float* state);

 private:
  // Who leaves first is the smallest. It only grows while an item keeps its row.
  struct Standing {
    int32_t first, second;
    int64_t item;
    auto operator<=>(const Standing&) const = default;
  };
  Standing StandingOf(int64_t item) const;
  // Of the item that leaves first, which is at the top of the heap then.
  Standing Last();
  void Push(int64_t item);
  void Pop();
  void Admit(int64_t item);

  VocabularyPolicy policy_;
  int64_t rows_;
  std::vector<int32_t> count_, last_;  // [items]: reads, and the step of the last one
  std::vector<int64_t> row_of_;        // [items], or kNoRow
  std::vector<int64_t> item_of_;       // [used rows]
  std::vector<Standing> heap_;         // one entry a used row, as the item stood once
  std::vector<int64_t> seen_;
  std::vector<RowChange> changes_;
  int64_t evicted_ = 0;
};

}  // namespace waymark
