#include "catalog/geo_column.h"

#include <algorithm>
#include <limits>

namespace waymark {
namespace {

const GeoPoint kNoPoint{std::numeric_limits<double>::quiet_NaN(), 0};
// Of an entry of the sorted set, whose point is read too, in looks at a point of the dense column.
constexpr size_t kEntryCost = 16;

}  // namespace

void GeoColumn::Set(ItemOrdinal item, absl::Span<const GeoPoint> points) {
  std::vector<GeoPoint> before;
  ForEachPoint(item, [&](const GeoPoint& point) { before.push_back(point); });
  if (std::equal(before.begin(), before.end(), points.begin(), points.end())) return;
  for (const GeoPoint& point : before) cells_.erase({CellOf(point), item});
  others_.erase(item);
  if (points.empty()) {
    first_[item] = kNoPoint;
    present_.remove(item);
    return;
  }
  if (item >= first_.size()) first_.resize(size_t{item} + 1, kNoPoint);
  first_[item] = points[0];
  present_.add(item);
  for (const GeoPoint& point : points) cells_.emplace(CellOf(point), item);
  if (points.size() > 1) others_.emplace(item, std::vector<GeoPoint>(points.begin() + 1, points.end()));
}

bool GeoColumn::AnyWithin(ItemOrdinal item, const GeoShape& shape) const {
  bool any = false;
  ForEachPoint(item, [&](const GeoPoint& point) { any = any || shape.Contains(point); });
  return any;
}

double GeoColumn::NearestMetres(ItemOrdinal item, const GeoPoint& from) const {
  double nearest = std::numeric_limits<double>::infinity();
  ForEachPoint(item,
               [&](const GeoPoint& point) { nearest = std::min(nearest, DistanceMetres(from, point)); });
  return nearest;
}

double GeoColumn::FarthestMetres(ItemOrdinal item, const GeoPoint& from) const {
  double farthest = -1;
  ForEachPoint(item,
               [&](const GeoPoint& point) { farthest = std::max(farthest, DistanceMetres(from, point)); });
  return farthest;
}

Bitmap GeoColumn::Within(const GeoShape& shape) const {
  if (shape.bounded()) {
    if (std::optional<Bitmap> found = Gather(shape)) return *std::move(found);
  }
  return Scan(shape);
}

size_t GeoColumn::CountNear(const GeoShape& shape, size_t limit) const {
  if (!shape.bounded()) return first_.size();
  size_t count = 0;
  for (const GeoBox& box : shape.bounds()) {
    for (const CellRange& range : CellsOf(box)) {
      for (auto at = cells_.lower_bound({range.first, 0});
           at != cells_.end() && at->first <= range.last && count <= limit; ++at) {
        ++count;
      }
    }
  }
  return count;
}

std::optional<Bitmap> GeoColumn::Gather(const GeoShape& shape) const {
  std::vector<uint32_t> items;
  size_t looked = 0;
  for (const GeoBox& box : shape.bounds()) {
    for (const CellRange& range : CellsOf(box)) {
      for (auto at = cells_.lower_bound({range.first, 0}); at != cells_.end() && at->first <= range.last;
           ++at) {
        if (++looked * kEntryCost > first_.size() + kEntryCost) return std::nullopt;
        if (AnyWithin(at->second, shape)) items.push_back(at->second);
      }
    }
  }
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return Bitmap(items.size(), items.data());
}

Bitmap GeoColumn::Scan(const GeoShape& shape) const {
  std::vector<uint32_t> items;
  for (const uint32_t item : present_) {
    if (AnyWithin(item, shape)) items.push_back(item);
  }
  return Bitmap(items.size(), items.data());
}

bool GeoColumn::IndexAgrees() const {
  absl::btree_set<std::pair<GeoCell, ItemOrdinal>> cells;
  size_t items = 0;
  for (size_t i = 0; i < first_.size(); ++i) {
    const auto item = static_cast<ItemOrdinal>(i);
    bool any = false;
    ForEachPoint(item, [&](const GeoPoint& point) {
      any = true;
      cells.emplace(CellOf(point), item);
    });
    if (any != present_.contains(item)) return false;
    items += any;
  }
  return cells == cells_ && items == present_.cardinality();
}

size_t GeoColumn::memory_bytes() const {
  return first_.capacity() * sizeof(GeoPoint) + others_.size() * 80 + present_.getSizeInBytes(false) +
         cells_.size() * 20;
}

void GeoColumn::Write(ByteWriter* out) const {
  out->PutArray(first_);
  out->Put<uint64_t>(others_.size());
  for (const auto& [item, points] : others_) {
    out->Put(item);
    out->PutArray(points);
  }
}

bool GeoColumn::Read(ByteReader* in, size_t end) {
  std::vector<GeoPoint> first;
  uint64_t count = 0;
  if (!in->GetArray(&first) || first.size() > end || !in->Get(&count)) return false;
  absl::flat_hash_map<ItemOrdinal, std::vector<GeoPoint>> others;
  for (uint64_t i = 0; i < count; ++i) {
    ItemOrdinal item = 0;
    std::vector<GeoPoint> points;
    if (!in->Get(&item) || !in->GetArray(&points) || item >= first.size()) return false;
    if (!others.emplace(item, std::move(points)).second) return false;
  }
  std::vector<GeoPoint> points;
  for (size_t i = 0; i < first.size(); ++i) {
    const auto item = static_cast<ItemOrdinal>(i);
    const auto more = others.find(item);
    if (std::isnan(first[i].lat)) {
      if (more != others.end()) return false;
      continue;
    }
    points.assign(1, first[i]);
    if (more != others.end()) points.insert(points.end(), more->second.begin(), more->second.end());
    for (const GeoPoint& point : points) {
      if (!WrongPoint(point).empty()) return false;
    }
    Set(item, points);
  }
  return true;
}

}  // namespace waymark
