#include "store/rows/column_types.h"

namespace waymark {

CellType InferColumnType(absl::Span<const std::string> cells) {
  bool integer = true, number = true, boolean = true, any = false;
  for (const std::string& cell : cells) {
    if (cell.empty()) continue;
    any = true;
    integer = integer && IsExactInteger(cell);
    // An integer that a double cannot hold must not hide among numbers.
    const bool whole = cell.find_first_of(".eE") == std::string::npos;
    number = number && (whole ? IsExactInteger(cell) : IsJsonNumber(cell));
    boolean = boolean && (cell == "true" || cell == "false" || cell == "True" || cell == "False" ||
                          cell == "TRUE" || cell == "FALSE");
    if (!integer && !number && !boolean) break;
  }
  if (!any) return {CellType::Kind::kText, ""};
  if (integer) return {CellType::Kind::kInteger, ""};
  if (number) return {CellType::Kind::kNumber, ""};
  if (boolean) return {CellType::Kind::kBoolean, ""};
  return {CellType::Kind::kText, ""};
}

std::vector<TypedColumn> RecBoleHeader(absl::Span<const std::string> header) {
  std::vector<TypedColumn> columns;
  for (const std::string& cell : header) {
    const size_t at = cell.rfind(':');
    if (at == std::string::npos || at == 0) return {};
    const absl::string_view type = absl::string_view(cell).substr(at + 1);
    if (type != "token" && type != "float" && type != "token_seq" && type != "float_seq") return {};
    columns.push_back({cell.substr(0, at), *ParseCellType(type)});
  }
  return columns;
}

}  // namespace waymark
