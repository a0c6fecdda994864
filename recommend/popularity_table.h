// How often each item occurs, over all time, decayed by time, and in the newest part of the log, and when it
// first did; with orders that are kept up to date, so that "the most popular" is read off, not sorted.
//
// Decay needs no sweep over the items: of item i the table keeps
//   decayed(i) = log2 sum over its events of 2^(event time / half-life)
// and at the time `now` the decayed count is 2^(decayed(i) - now / half-life). The order does not depend on
// `now`. In the same way, with n the number of an event in the order of the log and N how many there are,
//   recent(i) = ln sum n^9,   and   exp(recent(i) - 9 ln N) = sum of (n / N)^9
// is a count whose weights add up to N / 10 over the whole log: the newest tenth, with a soft edge, at any
// size of the log.
//
// Popularity is, but for a factor, the posterior mean of an item's share of the decayed events, whose prior
// is its share of all events with the weight of 1,000:
//   popularity(i) = decayed count of i + 1000 * count of i / N
// So a shop with traffic goes by what is asked for now, and after a pause, or with an old log, a handful of
// new events does not outweigh all the others.
//
// Thread-safe: many readers beside one writer. Counts are atomics; the orders have a lock that is held for at
// most 512 steps.
#pragma once
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "recommend/checked_file.h"
#include "store/ids.h"

namespace waymark {

class PopularityTable {
 public:
  explicit PopularityTable(absl::Duration half_life);
  ~PopularityTable();

  void Add(ItemOrdinal item, absl::Time time);

  uint32_t Count(ItemOrdinal item) const;
  uint64_t events() const { return events_.load(std::memory_order_relaxed); }
  // ln(1 + count in the newest tenth of the log).
  float LogRecent(ItemOrdinal item) const;
  // The earliest event's time; the infinite future without an event.
  absl::Time First(ItemOrdinal item) const;
  // ln of the popularity; NaN without an event.
  float LogPopularity(ItemOrdinal item, absl::Time now) const;
  // Items with events, most popular first (ties by ordinal), until `visit` answers false.
  void ForEachByPopularity(absl::Time now,
                           const std::function<bool(ItemOrdinal, double log_popularity)>& visit) const;

  void Save(CheckedWriter* writer) const;
  absl::Status Load(CheckedReader* reader);

 private:
  struct Totals {
    std::atomic<uint32_t> count{0};
    // Meaningful where count > 0.
    std::atomic<double> decayed{0}, recent{0};
    std::atomic<int64_t> first_us{0};
  };
  static constexpr size_t kChunkItems = size_t{1} << 16;
  using Chunk = std::array<Totals, kChunkItems>;
  using Key = std::pair<double, ItemOrdinal>;  // (-what is ordered by, item)
  using Order = absl::btree_set<Key>;
  class Walk;

  const Totals* Find(ItemOrdinal item) const;
  Totals& Make(ItemOrdinal item);
  double HalfLives(absl::Time time) const;
  double Posterior(double decayed, double count, absl::Time now) const;  // ln of it

  const double half_life_seconds_;
  std::atomic<uint64_t> events_{0};
  // Chunks are made by the writer and never move, so readers need no lock. All 32-bit ordinals fit.
  std::unique_ptr<std::atomic<Chunk*>[]> chunks_;
  mutable std::mutex order_mutex_;
  Order by_decayed_, by_count_;  // under order_mutex_
};

}  // namespace waymark
