// One vector of a VECTOR field: read from an item or a request, and as its index keeps and asks it.
//
// For recommend/ alone.
#pragma once
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "catalog/schema.h"

namespace waymark {

// Numbers that an index of the field holds for one vector.
int IndexedWidth(const Field& field);
// As the index keeps it; none: the item has no vector of the field's dimension.
std::optional<std::vector<float>> IndexedVector(const Field& field, const google::protobuf::Struct& item);
// As the index is asked.
std::vector<float> AskedVector(const Field& field, absl::Span<const float> values);
// What an answer's score is, of what the index keeps: [width] of IndexedWidth.
double NearnessOf(const Field& field, absl::Span<const float> asked_for, absl::Span<const float> kept);

}  // namespace waymark
