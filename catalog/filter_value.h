// What a comparison of a filter compares with: the words after its operator, read as the field's type.
// For catalog/ alone.
#pragma once
#include <optional>
#include <string>

#include "catalog/field_value.h"
#include "catalog/filter.h"

namespace waymark {

// The closed interval of numbers that `text` names in a field of this type: one number twice, a whole day for
// a date. None: it names none.
struct NumberInterval {
  double lowest = 0, highest = 0;
};
std::optional<NumberInterval> ReadInterval(const Field& field, const std::string& text);

// «'abc' is no number; field 'year' is INTEGER (year = 1995)».
std::string NotOfType(const Field& field, const std::string& text);

// The interval that holds the numbers for which `number OP value` is true; empty (lowest > highest) for none.
NumberInterval Compared(FilterNode::Kind kind, NumberInterval value);

}  // namespace waymark
