// The types of a table's columns, found from its first rows. A column keeps one type for the whole file: a
// value that does not fit is refused, rather than turning up as text among numbers.
#pragma once
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "store/rows/cell_type.h"

namespace waymark {

// Integer, number or boolean when every cell that is not empty is one in its plain form (so 007, +1 and
// integers beyond 2^53 make a column of text); text otherwise, and when all are empty.
CellType InferColumnType(absl::Span<const std::string> cells);

// «user_id:token» -> name and type, as RecBole's atomic files write their header.
struct TypedColumn {
  std::string name;
  CellType type;
};
// Empty unless every column has that form.
std::vector<TypedColumn> RecBoleHeader(absl::Span<const std::string> header);

}  // namespace waymark
