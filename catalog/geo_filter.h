// The functions of the filter grammar that speak of points (docs/filters.md):
//
//   geo_distance(location, 52.5, 13.4) < 10000      metres; also 10km
//   geo_box(location, 52.3, 13.0, 52.7, 13.8)       south, west, north, east
//
// For catalog/ alone.
#pragma once
#include <optional>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "catalog/filter.h"
#include "catalog/filter_scanner.h"

namespace waymark {

// Whether `name` is one of them and a parenthesis comes next: a field of that name is still a field.
bool IsGeoFunction(const FilterScanner::Word& name, FilterScanner* scanner);

// From the parenthesis on. `find` looks up a GEO field, or says what is wrong with it.
absl::StatusOr<FilterNode> ReadGeoFunction(
    const FilterScanner::Word& name, FilterScanner* scanner,
    absl::FunctionRef<absl::StatusOr<const Field*>(const FilterScanner::Word& field, size_t at)> find);

// The arguments of a geo_distance that order_by names: "location, 52.5, 13.4". INVALID_ARGUMENT says what it
// takes, without a place.
struct DistanceArguments {
  std::string field;
  GeoPoint from;
};
absl::StatusOr<DistanceArguments> ReadDistanceArguments(std::string_view text);

}  // namespace waymark
