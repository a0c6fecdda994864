#include "catalog/geo_cells.h"

#include <algorithm>
#include <cmath>

namespace waymark {
namespace {

constexpr int kBits = 31;
constexpr uint32_t kLastCell = (uint32_t{1} << kBits) - 1;
// Quadrants that reach over the box's edge are cut no further when there are so many.
constexpr size_t kMostQuadrants = 48;

// Monotonous, so that a point within a box has a cell within the box's.
uint32_t Along(double degrees, double from, double width) {
  const double cell = std::floor((degrees - from) / width * (uint64_t{1} << kBits));
  return static_cast<uint32_t>(std::clamp(cell, 0.0, static_cast<double>(kLastCell)));
}
uint32_t Column(double lon) { return Along(lon, -180, 360); }
uint32_t Row(double lat) { return Along(lat, -90, 180); }

// Its bits, each at twice its place.
uint64_t Spread(uint64_t bits) {
  bits = (bits | bits << 16) & 0x0000FFFF0000FFFFull;
  bits = (bits | bits << 8) & 0x00FF00FF00FF00FFull;
  bits = (bits | bits << 4) & 0x0F0F0F0F0F0F0F0Full;
  bits = (bits | bits << 2) & 0x3333333333333333ull;
  return (bits | bits << 1) & 0x5555555555555555ull;
}

GeoCell Interleaved(uint32_t column, uint32_t row) { return Spread(column) | Spread(row) << 1; }

struct Quadrant {
  uint32_t column = 0, row = 0;  // at its level
};

}  // namespace

GeoCell CellOf(const GeoPoint& point) { return Interleaved(Column(point.lon), Row(point.lat)); }

std::vector<CellRange> CellsOf(const GeoBox& box) {
  const uint32_t west = Column(box.west), east = Column(box.east);
  const uint32_t south = Row(box.south), north = Row(box.north);
  std::vector<CellRange> ranges;
  std::vector<Quadrant> crossing = {{0, 0}}, next;
  const auto add = [&](const Quadrant& quadrant, int level) {
    const int below = 2 * (kBits - level);
    const GeoCell first = Interleaved(quadrant.column, quadrant.row) << below;
    ranges.push_back({first, first | ((GeoCell{1} << below) - 1)});
  };
  int level = 0;
  for (; level < kBits && !crossing.empty() && crossing.size() <= kMostQuadrants; ++level) {
    next.clear();
    const int shift = kBits - level - 1;
    for (const Quadrant& quadrant : crossing) {
      for (uint32_t part = 0; part < 4; ++part) {
        const Quadrant child{quadrant.column * 2 + (part & 1), quadrant.row * 2 + (part >> 1)};
        const uint32_t left = child.column << shift, right = left | ((uint32_t{1} << shift) - 1);
        const uint32_t low = child.row << shift, high = low | ((uint32_t{1} << shift) - 1);
        if (right < west || left > east || high < south || low > north) continue;
        const bool inside = left >= west && right <= east && low >= south && high <= north;
        inside ? add(child, level + 1) : next.push_back(child);
      }
    }
    crossing.swap(next);
  }
  for (const Quadrant& quadrant : crossing) add(quadrant, level);
  std::sort(ranges.begin(), ranges.end(),
            [](const CellRange& a, const CellRange& b) { return a.first < b.first; });
  std::vector<CellRange> joined;
  for (const CellRange& range : ranges) {
    if (!joined.empty() && joined.back().last + 1 == range.first) {
      joined.back().last = range.last;
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

}  // namespace waymark
