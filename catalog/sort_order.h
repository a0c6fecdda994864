// The order that a request asks for, as «price desc, year» (the grammar of AIP-132), or by distance:
// «geo_distance(location, 52.5, 13.4)».
//
//   auto order = ParseSortOrder("price desc, year", *catalog.schema());
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/geo_point.h"
#include "catalog/schema.h"

namespace waymark {

inline constexpr size_t kMostSortKeys = 5;
inline constexpr size_t kMostOrderBytes = 1024;

struct SortKey {
  Field field;
  bool descending = false;
  std::optional<GeoPoint> from;  // of GEO fields: by the distance from here
};

// Immutable; thread-safe. Numbers, times and booleans (false before true) come by value, KEYWORD values by
// code points, GEO fields by distance, the nearest of their points (descending the farthest). Of arrays the
// least value counts, descending the greatest. Items without the field come last, either way.
struct SortOrder {
  std::vector<SortKey> keys;
};

// The first key by distance; null: there is none. What distances in answers are measured from.
const SortKey* FindDistance(const SortOrder& order);

// INVALID_ARGUMENT: «order_by: ...» names the field or word, and what is taken. An empty text has no keys.
absl::StatusOr<SortOrder> ParseSortOrder(std::string_view text, const Schema& schema);

}  // namespace waymark
