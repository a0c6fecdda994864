#include "recommend/network/sequence_layout.h"

#include <algorithm>
#include <bit>

namespace waymark {

uint8_t TimeBucket(int64_t earlier_us, int64_t later_us, int buckets) {
  if (later_us <= earlier_us) return 0;
  const uint64_t seconds = (static_cast<uint64_t>(later_us) - static_cast<uint64_t>(earlier_us)) / 1000000;
  return static_cast<uint8_t>(std::min(static_cast<int>(std::bit_width(seconds + 1)), buckets - 1));
}

void SequenceLayout::Clear() {
  starts_.assign(1, 0);
  pair_starts_.assign(1, 0);
  buckets_.clear();
  longest_ = 0;
}

void SequenceLayout::Add(absl::Span<const int64_t> times_us) {
  const size_t n = times_us.size();
  starts_.push_back(starts_.back() + n);
  const size_t first = pair_starts_.back();
  pair_starts_.push_back(first + n * n);
  buckets_.resize(first + n * n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      buckets_[first + i * n + j] = TimeBucket(times_us[j], times_us[i], time_buckets_);
    }
  }
  longest_ = std::max(longest_, n);
}

}  // namespace waymark
