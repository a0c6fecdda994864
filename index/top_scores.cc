#include "index/top_scores.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

namespace waymark {
namespace {

constexpr size_t kLargestHeap = 100;
constexpr int kCountedShift = 12;
constexpr size_t kCounts = (size_t{kGreatestScore} >> kCountedShift) + 2;

// Greatest first. Eleven bits a pass, from the least significant on (LSD radix sort); passes that would move
// nothing are left out.
void SortDown(std::vector<uint64_t>* keys) {
  if (keys->size() < 64) return std::sort(keys->begin(), keys->end(), std::greater<>());
  std::vector<uint64_t> other(keys->size());
  for (int shift = 0; shift < 64; shift += 11) {
    std::array<uint32_t, 2048> starts{};
    for (uint64_t key : *keys) ++starts[2047 - (key >> shift & 2047)];
    if (std::find(starts.begin(), starts.end(), keys->size()) != starts.end()) continue;
    uint32_t sum = 0;
    for (uint32_t& start : starts) sum += std::exchange(start, sum);
    for (uint64_t key : *keys) other[starts[2047 - (key >> shift & 2047)]++] = key;
    keys->swap(other);
  }
}

}  // namespace

TopScores::TopScores(size_t limit) : limit_(limit), by_counts_(limit > kLargestHeap) {
  if (by_counts_) {
    counts_.resize(kCounts);
    compact_at_ = std::max<size_t>(4 * std::min<size_t>(limit, SIZE_MAX / 8), 1 << 14);
  } else {
    keys_.reserve(limit);
    if (limit == 0) needed_ = std::numeric_limits<FixedScore>::max();
  }
}

void TopScores::OfferToHeap(FixedScore score, ItemOrdinal item) {
  const uint64_t key = Key(score, item);
  if (keys_.size() < limit_) {
    keys_.push_back(key);
    std::push_heap(keys_.begin(), keys_.end(), std::greater<>());
  } else if (limit_ > 0 && key > keys_.front()) {
    std::pop_heap(keys_.begin(), keys_.end(), std::greater<>());
    keys_.back() = key;
    std::push_heap(keys_.begin(), keys_.end(), std::greater<>());
  } else {
    return;
  }
  if (keys_.size() < limit_) return;
  needed_ = static_cast<FixedScore>(keys_.front() >> 32);
  last_item_ = ~static_cast<ItemOrdinal>(keys_.front());
}

void TopScores::OfferToCounts(FixedScore score, ItemOrdinal item) {
  const size_t bits = std::min<size_t>(static_cast<size_t>(score) >> kCountedShift, kCounts - 1);
  if (bits < floor_) return;
  keys_.push_back(Key(score, item));
  ++counts_[bits];
  ++above_;
  while (above_ - counts_[floor_] >= limit_) above_ -= counts_[floor_++];
  if (above_ >= limit_) needed_ = static_cast<FixedScore>(floor_ << kCountedShift);
  if (keys_.size() < compact_at_) return;
  const uint64_t least = uint64_t{floor_} << (32 + kCountedShift);
  keys_.erase(std::remove_if(keys_.begin(), keys_.end(), [&](uint64_t key) { return key < least; }),
              keys_.end());
  compact_at_ = std::max(compact_at_, 2 * keys_.size());
}

FixedScore TopScores::ScoreOfRank(size_t rank) const {
  if (rank == 0 || keys_.size() < rank) return 0;
  if (!by_counts_) {
    std::vector<uint64_t> keys = keys_;
    std::nth_element(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(rank - 1), keys.end(),
                     std::greater<>());
    return static_cast<FixedScore>(keys[rank - 1] >> 32);
  }
  size_t above = 0, bits = kCounts;
  while (above < rank && bits > floor_) above += counts_[--bits];
  return above < rank ? 0 : static_cast<FixedScore>(bits << kCountedShift);
}

std::vector<std::pair<FixedScore, ItemOrdinal>> TopScores::Take() {
  if (by_counts_) {
    const uint64_t least = uint64_t{floor_} << (32 + kCountedShift);
    keys_.erase(std::remove_if(keys_.begin(), keys_.end(), [&](uint64_t key) { return key < least; }),
                keys_.end());
  }
  SortDown(&keys_);
  if (keys_.size() > limit_) keys_.resize(limit_);
  std::vector<std::pair<FixedScore, ItemOrdinal>> best;
  best.reserve(keys_.size());
  for (uint64_t key : keys_)
    best.emplace_back(static_cast<FixedScore>(key >> 32), ~static_cast<ItemOrdinal>(key));
  keys_.clear();
  return best;
}

}  // namespace waymark
