#include "catalog/number_column.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "catalog/dense_bitmap.h"

namespace waymark {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void NumberColumn::Set(ItemOrdinal item, absl::Span<const double> values) {
  const double before = First(item);
  if (values.size() == 1 && before == values[0] && (others_.empty() || !others_.contains(item))) return;
  if (!std::isnan(before)) {
    index_.Remove(before, item);
    const auto found = others_.find(item);
    if (found != others_.end()) {
      for (const double value : found->second) index_.Remove(value, item);
      others_.erase(found);
    }
  }
  if (values.empty()) {
    if (std::isnan(before)) return;
    first_[item] = kNone;
    present_.remove(item);
    return;
  }
  if (item >= first_.size()) first_.resize(size_t{item} + 1, kNone);
  first_[item] = values[0];
  present_.add(item);
  for (const double value : values) index_.Add(value, item);
  if (values.size() > 1) others_.emplace(item, std::vector<double>(values.begin() + 1, values.end()));
}

double NumberColumn::First(ItemOrdinal item) const { return item < first_.size() ? first_[item] : kNone; }

bool NumberColumn::AnyWithin(ItemOrdinal item, double lowest, double highest) const {
  const double first = First(item);
  if (first >= lowest && first <= highest) return true;
  if (others_.empty()) return false;
  const auto found = others_.find(item);
  if (found == others_.end()) return false;
  for (const double value : found->second) {
    if (value >= lowest && value <= highest) return true;
  }
  return false;
}

Bitmap NumberColumn::Within(double lowest, double highest) const {
  if (lowest > highest || index_.empty()) return Bitmap();
  if (index_.smallest() >= lowest && index_.largest() <= highest) return present_;
  if (std::optional<Bitmap> found = index_.Within(lowest, highest, first_.size())) return *std::move(found);
  return Scan(lowest, highest);
}

Bitmap NumberColumn::Scan(double lowest, double highest) const {
  std::vector<uint64_t> words((first_.size() + 63) / 64, 0);
  for (size_t w = 0; w < words.size(); ++w) {
    const size_t start = w * 64, count = std::min<size_t>(64, first_.size() - start);
    uint64_t word = 0;
    for (size_t i = 0; i < count; ++i) {
      const double value = first_[start + i];
      word |= static_cast<uint64_t>((value >= lowest) & (value <= highest)) << i;
    }
    words[w] = word;
  }
  Bitmap items = FromDense(words);
  for (const auto& [item, values] : others_) {
    if (AnyWithin(item, lowest, highest)) items.add(item);
  }
  return items;
}

bool NumberColumn::IndexAgrees() const {
  size_t pairs = 0, items = 0;
  bool agrees = true;
  for (size_t i = 0; i < first_.size(); ++i) {
    const auto item = static_cast<ItemOrdinal>(i);
    bool any = false;
    ForEachValue(item, [&](double value) {
      any = true;
      ++pairs;
      agrees = agrees && index_.Contains(value, item);
    });
    items += any;
    agrees = agrees && any == present_.contains(item);
  }
  return agrees && pairs == index_.size() && items == present_.cardinality();
}

size_t NumberColumn::memory_bytes() const {
  // A pair of the sorted set takes 16 bytes, and a fifth more for the tree; in bitmaps about 4.
  return first_.capacity() * sizeof(double) + others_.size() * 64 + present_.getSizeInBytes(false) +
         index_.size() * (index_.sorted() ? 20 : 4);
}

void NumberColumn::Write(ByteWriter* out) const {
  out->PutArray(first_);
  out->Put<uint64_t>(others_.size());
  for (const auto& [item, values] : others_) {
    out->Put(item);
    out->PutArray(values);
  }
}

bool NumberColumn::Read(ByteReader* in, size_t end) {
  std::vector<double> first;
  if (!in->GetArray(&first) || first.size() > end) return false;
  uint64_t count = 0;
  if (!in->Get(&count)) return false;
  absl::flat_hash_map<ItemOrdinal, std::vector<double>> others;
  for (uint64_t i = 0; i < count; ++i) {
    ItemOrdinal item = 0;
    std::vector<double> values;
    if (!in->Get(&item) || !in->GetArray(&values) || item >= first.size() || std::isnan(first[item])) {
      return false;
    }
    for (const double value : values) {
      if (!std::isfinite(value)) return false;
    }
    if (!others.emplace(item, std::move(values)).second) return false;
  }
  std::vector<double> values;
  for (size_t i = 0; i < first.size(); ++i) {
    if (std::isnan(first[i])) continue;
    if (!std::isfinite(first[i])) return false;
    const auto item = static_cast<ItemOrdinal>(i);
    values.assign(1, first[i]);
    const auto more = others.find(item);
    if (more != others.end()) values.insert(values.end(), more->second.begin(), more->second.end());
    Set(item, values);
  }
  return true;
}

}  // namespace waymark
