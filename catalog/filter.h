// A filter in the AIP-160 grammar (docs/filters.md), parsed and checked against a schema.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/schema.h"

namespace waymark {

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
    kHas
  };
  Kind kind = Kind::kAll;
  std::vector<FilterNode> children;  // of kAnd, kOr, kNot
  std::string field;
  FieldType type = storage::FieldRecord::TYPE_UNSPECIFIED;
  std::vector<std::string> texts;  // values of KEYWORD and TEXT comparisons
  std::vector<double> numbers;     // values of the others (times in microseconds)
};

struct Filter {
  FilterNode root;
  std::string text;  // as given
};

// INVALID_ARGUMENT points at the column: «filter, column 9: field 'yaer' is not in the schema; did you mean
// 'year'?».
absl::StatusOr<Filter> ParseFilter(std::string_view text, const Schema& schema);

}  // namespace waymark
