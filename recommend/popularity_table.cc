#include "recommend/popularity_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <vector>

#include "absl/container/flat_hash_set.h"

namespace waymark {
namespace {

constexpr size_t kChunks = size_t{1} << 16;
constexpr size_t kStepsUnderLock = 256;
constexpr double kRecentPower = 9;
constexpr double kPriorEvents = 1000;

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
  if (count > 0) {
    by_decayed_.erase({-before, item});
    by_count_.erase({-static_cast<double>(count), item});
  }
  by_decayed_.insert({-after, item});
  by_count_.insert({-static_cast<double>(Count(item)), item});
}

uint32_t PopularityTable::Count(ItemOrdinal item) const {
  const Totals* totals = Find(item);
  return totals == nullptr ? 0 : totals->count.load(std::memory_order_acquire);
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

double PopularityTable::Posterior(double decayed, double count, absl::Time now) const {
  const double share = count / std::max(1.0, static_cast<double>(events()));
  return AddLog(std::log(2.0) * (decayed - HalfLives(now)), std::log(kPriorEvents * share));
}

float PopularityTable::LogPopularity(ItemOrdinal item, absl::Time now) const {
  const uint32_t count = Count(item);
  if (count == 0) return std::numeric_limits<float>::quiet_NaN();
  return static_cast<float>(Posterior(Find(item)->decayed.load(std::memory_order_relaxed), count, now));
}

// Along one order, in steps.
class PopularityTable::Walk {
 public:
  explicit Walk(const Order& order) : order_(order) {}
  // The next keys; under the lock.
  void Read(std::vector<Key>& keys) {
    auto at = order_.upper_bound(last_);
    size_t steps = 0;
    for (; at != order_.end() && steps < kStepsUnderLock; ++at, ++steps) keys.push_back(*at);
    if (steps > 0) last_ = keys.back();
    done_ = steps < kStepsUnderLock;
  }
  bool done() const { return done_; }
  // What nothing that is still to come exceeds.
  double bound() const { return -last_.first; }

 private:
  const Order& order_;
  Key last_{-std::numeric_limits<double>::infinity(), 0};
  bool done_ = false;
};

// The threshold algorithm (Fagin, Lotem, Naor 2003) over the two orders: an item is the next one when its
// popularity is at least that of an item that would be next in both.
void PopularityTable::ForEachByPopularity(absl::Time now,
                                          const std::function<bool(ItemOrdinal, double)>& visit) const {
  Walk decayed(by_decayed_), counted(by_count_);
  std::vector<Key> keys;
  absl::flat_hash_set<ItemOrdinal> seen;
  std::priority_queue<Key, std::vector<Key>, std::greater<Key>> next;
  while (!decayed.done() || !counted.done()) {
    keys.clear();
    {
      std::lock_guard lock(order_mutex_);
      if (!decayed.done()) decayed.Read(keys);
      if (!counted.done()) counted.Read(keys);
    }
    for (const Key& key : keys) {
      if (!seen.insert(key.second).second) continue;
      const double decays = Find(key.second)->decayed.load(std::memory_order_relaxed);
      next.push({-Posterior(decays, Count(key.second), now), key.second});
    }
    // Every item is in both orders: with one of them walked through, all are seen.
    const bool all = decayed.done() || counted.done();
    const double bound = all ? 0 : Posterior(decayed.bound(), counted.bound(), now);
    for (; !next.empty() && (all || -next.top().first > bound); next.pop()) {
      if (!visit(next.top().second, -next.top().first)) return;
    }
    if (all) return;
  }
}

void PopularityTable::Save(CheckedWriter* writer) const {
  writer->Put<double>(half_life_seconds_);
  writer->Put<uint64_t>(events());
  std::lock_guard lock(order_mutex_);
  writer->Put<uint64_t>(by_decayed_.size());
  for (const Key& key : by_decayed_) {
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
    by_decayed_.insert({-decayed, item});
    by_count_.insert({-static_cast<double>(count), item});
  }
  return absl::OkStatus();
}

}  // namespace waymark
