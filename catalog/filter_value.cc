#include "catalog/filter_value.h"

#include <cmath>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

using storage::FieldRecord;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

std::optional<NumberInterval> ReadInterval(const Field& field, const std::string& text) {
  if (field.type() == FieldRecord::TIME) {
    const std::optional<TimeSpan> span = ParseTimeSpan(text);
    if (!span) return std::nullopt;
    return NumberInterval{span->first_us, span->last_us};
  }
  if (field.type() == FieldRecord::BOOLEAN) {
    if (absl::EqualsIgnoreCase(text, "true")) return NumberInterval{1, 1};
    if (absl::EqualsIgnoreCase(text, "false")) return NumberInterval{0, 0};
    return std::nullopt;
  }
  double number = 0;
  if (!absl::SimpleAtod(text, &number) || !std::isfinite(number)) return std::nullopt;
  if (number == 0) number = 0;
  return NumberInterval{number, number};
}

std::string NotOfType(const Field& field, const std::string& text) {
  const std::string shown = absl::StrCat("'", ShortenedText(text), "' is no ");
  const std::string type(TypeName(field.type()));
  const std::string& name = field.name();
  if (field.type() == FieldRecord::TIME) {
    return absl::StrCat(shown, "time; field '", name, "' is TIME (", name, " >= \"1995-11-22T00:00:00Z\", ",
                        name, " = 1995-11-22, ", name, ":1990..1999)");
  }
  if (field.type() == FieldRecord::BOOLEAN) {
    return absl::StrCat(shown, "boolean; field '", name, "' is BOOLEAN (", name, " = true)");
  }
  const bool range = absl::StrContains(text, "..");
  return absl::StrCat(
      shown, "number; field '", name, "' is ", type, " (",
      range ? absl::StrCat("ranges are written ", name, ":1990..1999") : absl::StrCat(name, " = 1995"), ")");
}

NumberInterval Compared(FilterNode::Kind kind, NumberInterval value) {
  switch (kind) {
    case FilterNode::Kind::kLess:
      return {-kInfinity, std::nextafter(value.lowest, -kInfinity)};
    case FilterNode::Kind::kLessEqual:
      return {-kInfinity, value.highest};
    case FilterNode::Kind::kGreater:
      return {std::nextafter(value.highest, kInfinity), kInfinity};
    case FilterNode::Kind::kGreaterEqual:
      return {value.lowest, kInfinity};
    default:
      return value;
  }
}

}  // namespace waymark
