// Item embeddings as sums of rows of a table of fixed size: hash embeddings (Svenstrup et al. 2017). What
// sites exchange has then one size and one layout whatever items they have, names none of them, and needs no
// common vocabulary.
//
//   const BucketTable table(plan.seed, buckets, hashes);
//   const std::vector<uint32_t> rows = table.RowsOf(ids);        // [items, hashes]
//   Expand(table, rows, weights, width, items);                    // items_i = sum of its rows
//   Fold(table, rows, moved, width, update);                       // the rows' smallest move that moves
//   items so
//
// No LibTorch here. Thread-safe (no state that changes).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace waymark {

class BucketTable {
 public:
  // 1 to 8 hashes, no more than buckets.
  BucketTable(uint64_t seed, uint32_t buckets, int hashes)
      : seed_(seed), buckets_(buckets), hashes_(hashes) {}
  uint32_t buckets() const { return buckets_; }
  int hashes() const { return hashes_; }
  // `hashes` different rows of each id: [ids.size(), hashes].
  std::vector<uint32_t> RowsOf(absl::Span<const std::string> ids) const;

 private:
  uint64_t seed_;
  uint32_t buckets_;
  int hashes_;
};

// table: [buckets, width]; items: [rows.size() / hashes, width] is overwritten.
void Expand(const BucketTable& shape, absl::Span<const uint32_t> rows, absl::Span<const float> table,
            size_t width, absl::Span<float> items);

// The least-squares solution of smallest norm of Expand(update) = moved, by conjugate gradients on the normal
// equations (CGLS; Bjorck 1996, 7.4) from zero: rows of items that are not here stay 0. Items that share all
// their rows get the mean of their moves. moved: [items, width]; update: [buckets, width] is overwritten.
void Fold(const BucketTable& shape, absl::Span<const uint32_t> rows, absl::Span<const float> moved,
          size_t width, absl::Span<float> update);

}  // namespace waymark
