// A filter in the AIP-160 grammar (docs/filters.md), parsed and checked against a schema.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/geo_shape.h"
#include "catalog/schema.h"

namespace waymark {

inline constexpr size_t kMostFilterBytes = 10 * 1024;
inline constexpr int kMostFilterTerms = 1000;
inline constexpr int kDeepestFilter = 50;

// One node of the parsed filter. Immutable; thread-safe.
struct FilterNode {
  enum class Kind {
    kAll,
    kAnd,
    kOr,
    kNot,
    kEquals,
    kNotEquals,
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual,
    kIn,
    kHas,
    kGeoDistance,  // numbers: latitude, longitude, least and greatest distance in metres
    kGeoBox,       // numbers: south, west, north, east
    kPath          // texts: a path and its separator
  };
  Kind kind = Kind::kAll;
  std::vector<FilterNode> children;  // of kAnd, kOr, kNot
  std::string field;
  FieldType type = storage::FieldRecord::TYPE_UNSPECIFIED;
  // What the field is compared with; all empty for kHas that asks only whether the field is there (`f:*`).
  std::vector<std::string> texts;  // of KEYWORD fields
  // Of the others: closed intervals, two numbers each (times in microseconds, booleans 0 and 1), one of which
  // must hold the value (none, for kNotEquals). `year > 1990` is [the next double after 1990, infinity].
  std::vector<double> numbers;
};

// The shape that points must lie in; of kGeoDistance and kGeoBox alone.
GeoShape ShapeOf(const FilterNode& node);
// The first kGeoDistance of a filter; null: it has none. What distances in answers are measured from.
const FilterNode* FindDistance(const FilterNode& root);

struct Filter {
  FilterNode root;
  std::string text;  // as given
};

// INVALID_ARGUMENT points at the column: «filter, column 9: field 'yaer' is not in the schema; did you mean
// 'year'?».
absl::StatusOr<Filter> ParseFilter(std::string_view text, const Schema& schema);

}  // namespace waymark
