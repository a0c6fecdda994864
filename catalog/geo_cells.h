// Cells of a grid over the degrees, numbered along the Z-order curve (G. M. Morton, 1966): points that are
// near mostly have near numbers, and a box is a few ranges of them.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "catalog/geo_shape.h"

namespace waymark {

// 31 bits each of longitude and latitude: cells of at most 2 cm.
using GeoCell = uint64_t;
GeoCell CellOf(const GeoPoint& point);

struct CellRange {
  GeoCell first = 0, last = 0;  // both in it
};
// Ranges that hold every cell of the box, and few others; ascending, apart. At most about 64.
std::vector<CellRange> CellsOf(const GeoBox& box);

}  // namespace waymark
