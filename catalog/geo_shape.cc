#include "catalog/geo_shape.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace waymark {
namespace {

constexpr double kDegrees = 180 / std::numbers::pi;
// What rounding may take away from a bound, in degrees: a tenth of a millimetre.
constexpr double kSlack = 1e-9;

// Cut in two where it crosses the antimeridian; `west` >= -540, `east` <= 540, less than 360 apart.
std::vector<GeoBox> WithoutCrossing(double south, double west, double north, double east) {
  south = std::max(south, -90.0);
  north = std::min(north, 90.0);
  if (west < -180) return {{south, west + 360, north, 180}, {south, -180, north, east}};
  if (east > 180) return {{south, west, north, 180}, {south, -180, north, east - 360}};
  return {{south, west, north, east}};
}

// The smallest box around a circle on the sphere (J. P. Snyder's formulas as in the bounding coordinates of
// J. P. Matuschek): wider in longitude than at its center, and all around where it holds a pole.
std::vector<GeoBox> BoundsOfCircle(const GeoPoint& center, double radius) {
  const double angle = radius / kEarthRadius;  // radians
  if (!(angle < std::numbers::pi)) return {GeoBox()};
  const double lat = angle * kDegrees + kSlack;
  const double south = center.lat - lat, north = center.lat + lat;
  if (south <= -90 || north >= 90) {
    return {{std::max(south, -90.0), -180, std::min(north, 90.0), 180}};
  }
  const double sine = std::sin(angle) / std::cos(center.lat / kDegrees);
  const double lon = std::asin(std::min(1.0, sine)) * kDegrees * (1 + 1e-12) + kSlack;
  if (!(lon < 180)) return {{south, -180, north, 180}};
  return WithoutCrossing(south, center.lon - lon, north, center.lon + lon);
}

}  // namespace

GeoShape GeoShape::Distance(const GeoPoint& center, double least, double greatest) {
  GeoShape shape;
  shape.circle_ = true;
  shape.center_ = center;
  shape.least_ = least;
  shape.greatest_ = greatest;
  shape.bounds_ = BoundsOfCircle(center, greatest);
  shape.bounded_ = greatest < std::numbers::pi * kEarthRadius;
  return shape;
}

GeoShape GeoShape::Box(double south, double west, double north, double east) {
  GeoShape shape;
  shape.bounds_ = WithoutCrossing(south, west, north, west > east ? east + 360 : east);
  return shape;
}

bool GeoShape::Contains(const GeoPoint& point) const {
  const bool within = std::any_of(bounds_.begin(), bounds_.end(), [&](const GeoBox& box) {
    return point.lat >= box.south && point.lat <= box.north && point.lon >= box.west && point.lon <= box.east;
  });
  if (!within || !circle_) return within;
  const double distance = DistanceMetres(center_, point);
  return distance >= least_ && distance <= greatest_;
}

}  // namespace waymark
