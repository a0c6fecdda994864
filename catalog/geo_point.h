// Points on the Earth, and how far they are from each other.
//
//   GeoPoint berlin{52.52, 13.405}, paris{48.8566, 2.3522};
//   DistanceMetres(berlin, paris);   // 877,465
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "google/protobuf/struct.pb.h"

namespace waymark {

// Degrees: latitude -90..90, longitude -180..180.
struct GeoPoint {
  double lat = 0, lon = 0;
  bool operator==(const GeoPoint&) const = default;
};

// The mean radius of the Earth (IUGG), metres.
inline constexpr double kEarthRadius = 6371008.8;

// Along the great circle of a sphere, by the haversine formula (R. W. Sinnott, «Virtues of the Haversine»,
// Sky and Telescope 68, 1984): within 0.6% of the distance on the ellipsoid.
double DistanceMetres(const GeoPoint& a, const GeoPoint& b);

// {"lat": 52.5, "lon": 13.4} or text "52.5,13.4". None: no such point, or outside the degrees that there are.
std::optional<GeoPoint> PointOf(const google::protobuf::Value& value);
std::optional<GeoPoint> ParsePoint(std::string_view text);
// None: it is one; else what is wrong with it.
std::string_view WrongPoint(const GeoPoint& point);

}  // namespace waymark
