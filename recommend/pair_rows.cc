#include "recommend/pair_rows.h"

#include <algorithm>
#include <cmath>

namespace waymark {
namespace {

// Below this a weight is the rounding that additions and subtractions have left.
constexpr float kNothing = 1e-5f;

bool ItemBefore(const PairEntry& entry, ItemOrdinal item) { return entry.item < item; }

const PairEntry* FindEntry(const std::vector<PairEntry>& entries, ItemOrdinal item) {
  auto at = std::lower_bound(entries.begin(), entries.end(), item, ItemBefore);
  return at == entries.end() || at->item != item ? nullptr : &*at;
}

}  // namespace

PairRows::PairRows(size_t neighbours) : neighbours_(std::max<size_t>(neighbours, 4)) {}

void PairRows::DropLightest(Row* row) const {
  std::vector<PairEntry>& entries = row->entries;
  const size_t kept = entries.size() - std::max<size_t>(1, neighbours_ / 4);
  std::nth_element(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(kept), entries.end(),
                   [](const PairEntry& a, const PairEntry& b) {
                     return a.weight != b.weight ? a.weight > b.weight : a.item < b.item;
                   });
  entries.resize(kept);
  std::sort(entries.begin(), entries.end(),
            [](const PairEntry& a, const PairEntry& b) { return a.item < b.item; });
}

void PairRows::Add(ItemOrdinal from, ItemOrdinal to, double weight, int transitions) {
  Shard& shard = shards_[from % kShards];
  std::lock_guard lock(shard.mutex);
  const size_t index = from / kShards;
  if (index >= shard.rows.size()) shard.rows.resize(index + 1);
  Row& row = shard.rows[index];
  if (transitions >= 0 || row.transitions > 0) row.transitions += transitions;

  auto at = std::lower_bound(row.entries.begin(), row.entries.end(), to, ItemBefore);
  if (at == row.entries.end() || at->item != to) {
    if (weight <= 0) return;  // taken back from a pair that was dropped before
    if (row.entries.size() >= neighbours_) {
      DropLightest(&row);
      at = std::lower_bound(row.entries.begin(), row.entries.end(), to, ItemBefore);
    }
    at = row.entries.insert(at, PairEntry{to, 0, 0});
  }
  at->weight = static_cast<float>(at->weight + weight);
  if (transitions >= 0 || at->transitions > 0) at->transitions += static_cast<uint32_t>(transitions);
  if (at->weight < kNothing) row.entries.erase(at);
}

void PairRows::Read(ItemOrdinal item, std::vector<PairEntry>* entries, uint64_t* transitions) const {
  const Shard& shard = ShardOf(item);
  std::lock_guard lock(shard.mutex);
  const size_t index = item / kShards;
  if (index >= shard.rows.size()) {
    entries->clear();
    *transitions = 0;
    return;
  }
  *entries = shard.rows[index].entries;
  *transitions = shard.rows[index].transitions;
}

uint64_t PairRows::ReadPairs(ItemOrdinal item, absl::Span<const ItemOrdinal> items,
                             absl::Span<PairEntry> entries) const {
  std::fill(entries.begin(), entries.end(), PairEntry{});
  const Shard& shard = ShardOf(item);
  std::lock_guard lock(shard.mutex);
  const size_t index = item / kShards;
  if (index >= shard.rows.size()) return 0;
  const Row& row = shard.rows[index];
  for (size_t i = 0; i < items.size(); ++i) {
    if (const PairEntry* entry = FindEntry(row.entries, items[i])) entries[i] = *entry;
  }
  return row.transitions;
}

void PairRows::Save(CheckedWriter* writer) const {
  writer->Put<uint64_t>(neighbours_);
  for (const Shard& shard : shards_) {
    std::lock_guard lock(shard.mutex);
    writer->Put<uint64_t>(shard.rows.size());
    for (const Row& row : shard.rows) {
      writer->Put<uint64_t>(row.transitions);
      writer->PutArray<PairEntry>(row.entries);
    }
  }
}

absl::Status PairRows::Load(CheckedReader* reader) {
  uint64_t neighbours = 0;
  if (absl::Status s = reader->Get(&neighbours); !s.ok()) return s;
  if (neighbours != neighbours_)
    return absl::FailedPreconditionError("the counts were kept with another number of neighbours");
  for (Shard& shard : shards_) {
    std::lock_guard lock(shard.mutex);
    uint64_t rows = 0;
    if (absl::Status s = reader->Get(&rows); !s.ok()) return s;
    // A row takes 16 bytes at least.
    if (rows > reader->remaining() / 16) return reader->Damaged("holds more rows than bytes for them");
    shard.rows.resize(rows);
    for (Row& row : shard.rows) {
      if (absl::Status s = reader->Get(&row.transitions); !s.ok()) return s;
      if (absl::Status s = reader->GetArray(&row.entries); !s.ok()) return s;
      if (row.entries.size() > neighbours_) return reader->Damaged("holds a row that is too long");
      for (size_t i = 0; i < row.entries.size(); ++i) {
        if (!std::isfinite(row.entries[i].weight) ||
            (i > 0 && row.entries[i - 1].item >= row.entries[i].item))
          return reader->Damaged("holds a row that is out of order");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace waymark
