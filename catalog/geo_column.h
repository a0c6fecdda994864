// The points of one GEO field, by item ordinal: dense, changed in place, with a sorted set of (cell, item)
// beside them, so that a circle or box that keeps few items is answered without looking at all.
//
//   column.Set(7, {{52.5, 13.4}});
//   Bitmap near = column.Within(GeoShape::Distance({52.5, 13.4}, 0, 10'000));
//
// Not thread-safe: the catalog's lock guards it. For catalog/ alone.
#pragma once
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "catalog/column_bytes.h"
#include "catalog/geo_cells.h"
#include "catalog/item_set_impl.h"

namespace waymark {

class GeoColumn {
 public:
  // Replaces the item's points; empty: it has none.
  void Set(ItemOrdinal item, absl::Span<const GeoPoint> points);

  template <class Visit>
  void ForEachPoint(ItemOrdinal item, const Visit& visit) const {
    if (!(item < first_.size()) || std::isnan(first_[item].lat)) return;
    visit(first_[item]);
    if (others_.empty()) return;
    const auto found = others_.find(item);
    if (found == others_.end()) return;
    for (const GeoPoint& point : found->second) visit(point);
  }
  bool AnyWithin(ItemOrdinal item, const GeoShape& shape) const;
  // To the nearest of its points, metres; infinite: it has none.
  double NearestMetres(ItemOrdinal item, const GeoPoint& from) const;
  double FarthestMetres(ItemOrdinal item, const GeoPoint& from) const;  // negative: it has none

  const Bitmap& present() const { return present_; }
  // Items with any point in the shape.
  Bitmap Within(const GeoShape& shape) const;
  // About how many those are, at most; no more than a little above `limit` is told apart.
  size_t CountNear(const GeoShape& shape, size_t limit) const;
  // What Within may cost, in values looked at.
  size_t ScanCost() const { return first_.size() * 4; }

  bool IndexAgrees() const;
  size_t memory_bytes() const;
  void Write(ByteWriter* out) const;
  bool Read(ByteReader* in, size_t end);

 private:
  Bitmap Scan(const GeoShape& shape) const;
  // None: gathering them costs more than a scan.
  std::optional<Bitmap> Gather(const GeoShape& shape) const;

  std::vector<GeoPoint> first_;  // [ordinal]; latitude NaN: none
  absl::flat_hash_map<ItemOrdinal, std::vector<GeoPoint>> others_;
  Bitmap present_;
  absl::btree_set<std::pair<GeoCell, ItemOrdinal>> cells_;
};

}  // namespace waymark
