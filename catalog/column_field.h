// Looks up a field that a request names and whose values are columns: what facets, sorting and grouping take.
#pragma once
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "catalog/schema.h"

namespace waymark {

// INVALID_ARGUMENT begins with `place`: «facets[0].field: 'title' is TEXT; it takes fields that are KEYWORD,
// INTEGER, ... (here 'genres', 'year')». Lives as long as the schema.
absl::StatusOr<const Field*> FindColumnField(const Schema& schema, std::string_view name,
                                             std::string_view place, absl::Span<const FieldType> takes);

}  // namespace waymark
