#include "recommend/popularity_table.h"

#include <cmath>
#include <limits>
#include <vector>

namespace waymark {
namespace {

constexpr size_t kChunks = size_t{1} << 16;
constexpr size_t kStepsUnderLock = 256;
constexpr double kRecentPower = 9;

// log2(2^a + 2^b) and ln(e^a + e^b).
double AddLog2(double a, double b) { return std::max(a, b) + std::log2(1 + std::exp2(-std::abs(a - b))); }
double AddLog(double a, double b) { return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b))); }

}  // namespace

PopularityTable::PopularityTable(absl::Duration half_life)
    : half_life_seconds_(std::max(1.0, absl::ToDoubleSeconds(half_life))),
      chunks_(new std::atomic<Chunk*>[kChunks]()) {}

PopularityTable::~PopularityTable() {
  for (size_t c = 0; c < kChunks; ++c) delete chunks_[c].load(std::memory_order_relaxed);
}

const PopularityTable::Totals* PopularityTable::Find(ItemOrdinal item) const {
  const Chunk* chunk = chunks_[item / kChunkItems].load(std::memory_order_acquire);
  return chunk == nullptr ? nullptr : &(*chunk)[item % kChunkItems];
}

PopularityTable::Totals& PopularityTable::Make(ItemOrdinal item) {
  std::atomic<Chunk*>& place = chunks_[item / kChunkItems];
  if (place.load(std::memory_order_relaxed) == nullptr) place.store(new Chunk(), std::memory_order_release);
  return (*place.load(std::memory_order_relaxed))[item % kChunkItems];
}

double PopularityTable::HalfLives(absl::Time time) const {
  return absl::ToDoubleSeconds(time - absl::UnixEpoch()) / half_life_seconds_;
}

void PopularityTable::Add(ItemOrdinal item, absl::Time time) {
  Totals& totals = Make(item);
  const uint32_t count = totals.count.load(std::memory_order_relaxed);
  const uint64_t number = events_.load(std::memory_order_relaxed) + 1;
  const double recent = kRecentPower * std::log(static_cast<double>(number));
  const double before = totals.decayed.load(std::memory_order_relaxed);
  const double after = count == 0 ? HalfLives(time) : AddLog2(before, HalfLives(time));
  totals.decayed.store(after, std::memory_order_relaxed);
  totals.recent.store(count == 0 ? recent : AddLog(totals.recent.load(std::memory_order_relaxed), recent),
                      std::memory_order_relaxed);
  const int64_t us = absl::ToUnixMicros(time);
  if (count == 0 || us < totals.first_us.load(std::memory_order_relaxed)) {
    totals.first_us.store(us, std::memory_order_relaxed);
  }
  // Last, and with release: whoever sees the count sees the sums that belong to it.
  if (count < std::numeric_limits<uint32_t>::max()) totals.count.store(count + 1, std::memory_order_release);
  events_.store(number, std::memory_order_relaxed);

  std::lock_guard lock(order_mutex_);
  if (count > 0) order_.erase({-before, item});
  order_.insert({-after, item});
}

uint32_t PopularityTable::Count(ItemOrdinal item) const {
  const Totals* totals = Find(item);
  return totals == nullptr ? 0 : totals->count.load(std::memory_order_acquire);
}

double PopularityTable::OrderKey(ItemOrdinal item) const {
  if (Count(item) == 0) return -std::numeric_limits<double>::infinity();
  return Find(item)->decayed.load(std::memory_order_relaxed);
}

float PopularityTable::LogDecayed(ItemOrdinal item, absl::Time now) const {
  if (Count(item) == 0) return std::numeric_limits<float>::quiet_NaN();
  return static_cast<float>(std::log(2.0) * (OrderKey(item) - HalfLives(now)));
}

float PopularityTable::LogRecent(ItemOrdinal item) const {
  if (Count(item) == 0) return 0;
  const double log_all = kRecentPower * std::log(static_cast<double>(events()));
  const double recent = Find(item)->recent.load(std::memory_order_relaxed);
  return static_cast<float>(std::log1p(std::exp(recent - log_all)));
}

absl::Time PopularityTable::First(ItemOrdinal item) const {
  if (Count(item) == 0) return absl::InfiniteFuture();
  return absl::FromUnixMicros(Find(item)->first_us.load(std::memory_order_relaxed));
}

void PopularityTable::ForEachByPopularity(const std::function<bool(ItemOrdinal)>& visit) const {
  std::vector<Key> keys;
  Key after{-std::numeric_limits<double>::infinity(), 0};
  bool first = true;
  while (true) {
    keys.clear();
    {
      std::lock_guard lock(order_mutex_);
      auto at = first ? order_.begin() : order_.upper_bound(after);
      for (; at != order_.end() && keys.size() < kStepsUnderLock; ++at) keys.push_back(*at);
    }
    first = false;
    for (const Key& key : keys) {
      if (!visit(key.second)) return;
    }
    if (keys.size() < kStepsUnderLock) return;
    after = keys.back();
  }
}

void PopularityTable::Save(CheckedWriter* writer) const {
  writer->Put<double>(half_life_seconds_);
  writer->Put<uint64_t>(events());
  std::lock_guard lock(order_mutex_);
  writer->Put<uint64_t>(order_.size());
  for (const Key& key : order_) {
    const Totals& totals = *Find(key.second);
    writer->Put<ItemOrdinal>(key.second);
    writer->Put<uint32_t>(totals.count.load(std::memory_order_relaxed));
    writer->Put<double>(totals.decayed.load(std::memory_order_relaxed));
    writer->Put<double>(totals.recent.load(std::memory_order_relaxed));
    writer->Put<int64_t>(totals.first_us.load(std::memory_order_relaxed));
  }
}

absl::Status PopularityTable::Load(CheckedReader* reader) {
  double half_life = 0;
  uint64_t events = 0, items = 0;
  if (absl::Status s = reader->Get(&half_life); !s.ok()) return s;
  if (absl::Status s = reader->Get(&events); !s.ok()) return s;
  if (absl::Status s = reader->Get(&items); !s.ok()) return s;
  if (half_life != half_life_seconds_)
    return absl::FailedPreconditionError("the counts were kept with another half-life");
  events_.store(events, std::memory_order_relaxed);
  std::lock_guard lock(order_mutex_);
  for (uint64_t i = 0; i < items; ++i) {
    ItemOrdinal item = 0;
    uint32_t count = 0;
    double decayed = 0, recent = 0;
    int64_t first_us = 0;
    if (absl::Status s = reader->Get(&item); !s.ok()) return s;
    if (absl::Status s = reader->Get(&count); !s.ok()) return s;
    if (absl::Status s = reader->Get(&decayed); !s.ok()) return s;
    if (absl::Status s = reader->Get(&recent); !s.ok()) return s;
    if (absl::Status s = reader->Get(&first_us); !s.ok()) return s;
    if (count == 0 || !std::isfinite(decayed) || !std::isfinite(recent))
      return reader->Damaged("holds a count that is no count");
    Totals& totals = Make(item);
    totals.decayed.store(decayed, std::memory_order_relaxed);
    totals.recent.store(recent, std::memory_order_relaxed);
    totals.first_us.store(first_us, std::memory_order_relaxed);
    totals.count.store(count, std::memory_order_release);
    order_.insert({-decayed, item});
  }
  return absl::OkStatus();
}

}  // namespace waymark
