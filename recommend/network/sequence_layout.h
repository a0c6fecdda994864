// Histories packed one behind the other, without padding: tokens [starts[s], starts[s + 1]) are sequence s,
// oldest first. Also holds, for each pair of tokens of a sequence, the bucket of the time between them.
//
//   SequenceLayout layout(/*time_buckets=*/32);
//   layout.Add(times_us_of_one_history);
//   layout.tokens();
//
// Packing makes a sequence's result independent of what else is in the batch, and wastes nothing on padding.
#pragma once
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace waymark {

// 0 for simultaneous (or disordered) events, else 1 + floor(log2(seconds + 1)), at most buckets - 1: one
// bucket per doubling of the distance, as in HSTU (arXiv 2402.17152).
uint8_t TimeBucket(int64_t earlier_us, int64_t later_us, int buckets);

class SequenceLayout {
 public:
  explicit SequenceLayout(int time_buckets) : time_buckets_(time_buckets) {}
  void Clear();
  void Add(absl::Span<const int64_t> times_us);

  size_t sequences() const { return starts_.size() - 1; }
  size_t tokens() const { return starts_.back(); }
  size_t start(size_t s) const { return starts_[s]; }
  size_t length(size_t s) const { return starts_[s + 1] - starts_[s]; }
  size_t longest() const { return longest_; }
  // [length, length] of sequence s: row i, column j <= i is the bucket of times[i] - times[j].
  const uint8_t* buckets(size_t s) const { return buckets_.data() + pair_starts_[s]; }
  size_t pair_start(size_t s) const { return pair_starts_[s]; }
  size_t pairs() const { return pair_starts_.back(); }  // the sum of length^2
  int time_buckets() const { return time_buckets_; }

 private:
  int time_buckets_;
  size_t longest_ = 0;
  std::vector<size_t> starts_{0}, pair_starts_{0};
  std::vector<uint8_t> buckets_;
};

}  // namespace waymark
