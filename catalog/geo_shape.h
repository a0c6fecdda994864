// What a filter asks of points: a range of distances from one, or a box.
#pragma once
#include <limits>
#include <vector>

#include "catalog/geo_point.h"

namespace waymark {

// Degrees, both ends in it; `west` <= `east`: it does not cross the antimeridian.
struct GeoBox {
  double south = -90, west = -180, north = 90, east = 180;
};

class GeoShape {
 public:
  // Points whose distance from `center` lies in [least, greatest], metres.
  static GeoShape Distance(const GeoPoint& center, double least, double greatest);
  // `west` > `east`: over the antimeridian.
  static GeoShape Box(double south, double west, double north, double east);

  bool Contains(const GeoPoint& point) const;
  // Boxes that hold every point of the shape, and some more: one, or one on each side of the antimeridian.
  const std::vector<GeoBox>& bounds() const { return bounds_; }
  // Whether the bounds say something: nearly all points lie outside a shape of this kind otherwise.
  bool bounded() const { return bounded_; }

 private:
  bool circle_ = false, bounded_ = true;
  GeoPoint center_;
  double least_ = 0, greatest_ = std::numeric_limits<double>::infinity();
  std::vector<GeoBox> bounds_;
};

}  // namespace waymark
