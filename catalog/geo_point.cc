#include "catalog/geo_point.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"

namespace waymark {
namespace {

constexpr double kRadians = std::numbers::pi / 180;

}  // namespace

double DistanceMetres(const GeoPoint& a, const GeoPoint& b) {
  const double lat = std::sin((b.lat - a.lat) * kRadians / 2), lon = std::sin((b.lon - a.lon) * kRadians / 2);
  const double h = lat * lat + std::cos(a.lat * kRadians) * std::cos(b.lat * kRadians) * lon * lon;
  return 2 * kEarthRadius * std::asin(std::sqrt(std::min(1.0, h)));
}

std::string_view WrongPoint(const GeoPoint& point) {
  if (!(point.lat >= -90 && point.lat <= 90)) return "latitudes go from -90 to 90";
  if (!(point.lon >= -180 && point.lon <= 180)) return "longitudes go from -180 to 180";
  return {};
}

std::optional<GeoPoint> ParsePoint(std::string_view text) {
  const size_t comma = text.find(',');
  if (comma == text.npos) return std::nullopt;
  const std::string lat(text.substr(0, comma)), lon(text.substr(comma + 1));
  GeoPoint point;
  if (!absl::SimpleAtod(absl::StripAsciiWhitespace(lat), &point.lat) ||
      !absl::SimpleAtod(absl::StripAsciiWhitespace(lon), &point.lon) || !WrongPoint(point).empty()) {
    return std::nullopt;
  }
  return point;
}

std::optional<GeoPoint> PointOf(const google::protobuf::Value& value) {
  using google::protobuf::Value;
  if (value.kind_case() == Value::kStringValue) return ParsePoint(value.string_value());
  if (value.kind_case() != Value::kStructValue) return std::nullopt;
  const auto& fields = value.struct_value().fields();
  const auto lat = fields.find("lat"), lon = fields.find("lon");
  if (lat == fields.end() || lon == fields.end() || lat->second.kind_case() != Value::kNumberValue ||
      lon->second.kind_case() != Value::kNumberValue) {
    return std::nullopt;
  }
  const GeoPoint point{lat->second.number_value(), lon->second.number_value()};
  return WrongPoint(point).empty() ? std::optional(point) : std::nullopt;
}

}  // namespace waymark
