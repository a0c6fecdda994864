// A filter without what it says of some fields: what a disjunctive facet counts under.
#pragma once
#include <string>

#include "absl/types/span.h"
#include "catalog/filter.h"

namespace waymark {

// Leaves out each of the parts that AND joins (at any depth of AND alone) whose comparisons all are of these
// fields: of `genres = "a" AND (year < 2000 OR genres = "b")` without `genres`, the parenthesis is left.
Filter WithoutFields(const Filter& filter, absl::Span<const std::string> fields);

}  // namespace waymark
