#include "store/rows/cell_type.h"

#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "store/rows/json_struct.h"
#include "store/rows/row_time.h"
#include "store/rows/utf8.h"

namespace waymark {
namespace {

using google::protobuf::Value;
using Kind = CellType::Kind;

struct NamedKind {
  absl::string_view name;
  Kind kind;
};
constexpr NamedKind kNames[] = {
    {"text", Kind::kText},       {"integer", Kind::kInteger}, {"number", Kind::kNumber},
    {"boolean", Kind::kBoolean}, {"time", Kind::kTime},       {"json", Kind::kJson},
    {"words", Kind::kWords},     {"numbers", Kind::kNumbers}, {"token", Kind::kText},
    {"float", Kind::kNumber},    {"token_seq", Kind::kWords}, {"float_seq", Kind::kNumbers},
    {"point", Kind::kPoint}};

absl::Status Not(absl::string_view cell, absl::string_view wanted) {
  return absl::InvalidArgumentError(absl::StrCat("holds ", Quoted(cell), ", which is no ", wanted));
}

Value Text(absl::string_view text) {
  Value value;
  value.set_string_value(std::string(text));
  return value;
}

absl::StatusOr<Value> Number(absl::string_view cell) {
  Value value;
  double number;
  if (!IsJsonNumber(cell) || !absl::SimpleAtod(cell, &number)) return Not(cell, "finite number");
  value.set_number_value(number);
  return value;
}

absl::StatusOr<double> Degrees(absl::string_view cell, absl::string_view what, double most) {
  double degrees;
  if (absl::SimpleAtod(cell, &degrees) && std::abs(degrees) <= most) return degrees;
  return Not(cell, absl::StrCat(what, " (from -", most, " to ", most, ", written as 52.5)"));
}

constexpr absl::string_view kLatitude = "latitude", kLongitude = "longitude";

Value PointValue(double lat, double lon) {
  Value value;
  auto& fields = *value.mutable_struct_value()->mutable_fields();
  fields["lat"].set_number_value(lat);
  fields["lon"].set_number_value(lon);
  return value;
}

absl::StatusOr<Value> Point(absl::string_view cell) {
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(cell, absl::MaxSplits(',', 1));
  const auto lat = Degrees(absl::StripAsciiWhitespace(parts.first), kLatitude, 90);
  const auto lon = Degrees(absl::StripAsciiWhitespace(parts.second), kLongitude, 180);
  if (!lat.ok() || !lon.ok()) return Not(cell, "point (latitude,longitude as 52.5,13.4)");
  return PointValue(*lat, *lon);
}

absl::StatusOr<Value> Integer(absl::string_view cell) {
  double number;
  // 1995.0 is how spreadsheets and pandas write integers.
  if (!IsJsonNumber(cell) || !absl::SimpleAtod(cell, &number) || number != std::floor(number)) {
    return Not(cell, "whole number");
  }
  int64_t exact;
  if (std::abs(number) > kMaxExactInteger || (absl::SimpleAtoi(cell, &exact) && !IsExactInteger(cell))) {
    return absl::InvalidArgumentError(
        absl::StrCat("holds the integer ", cell, ", which is beyond 2^53; take it as text"));
  }
  Value value;
  value.set_number_value(number);
  return value;
}

absl::StatusOr<Value> Boolean(absl::string_view cell) {
  Value value;
  const std::string lower = absl::AsciiStrToLower(cell);
  if (lower == "true" || lower == "yes" || lower == "1") {
    value.set_bool_value(true);
  } else if (lower == "false" || lower == "no" || lower == "0") {
    value.set_bool_value(false);
  } else {
    return Not(cell, "boolean (true or false)");
  }
  return value;
}

absl::StatusOr<Value> Split(absl::string_view cell, const CellType& type) {
  Value value;
  auto* list = value.mutable_list_value();
  auto add = [&](absl::string_view part) -> absl::Status {
    part = absl::StripAsciiWhitespace(part);
    if (part.empty()) return absl::OkStatus();
    if (type.kind != Kind::kNumbers) {
      *list->add_values() = Text(part);
      return absl::OkStatus();
    }
    auto number = Number(part);
    if (!number.ok()) return number.status();
    *list->add_values() = *std::move(number);
    return absl::OkStatus();
  };
  const auto parts = type.kind == Kind::kSplit
                         ? std::vector<absl::string_view>(absl::StrSplit(cell, type.separator))
                         : std::vector<absl::string_view>(absl::StrSplit(cell, absl::ByAnyChar(" \t")));
  for (const absl::string_view part : parts) {
    if (auto status = add(part); !status.ok()) return status;
  }
  return value;
}

}  // namespace

bool IsJsonNumber(absl::string_view text) {
  size_t at = 0;
  auto digits = [&] {
    const size_t from = at;
    while (at < text.size() && absl::ascii_isdigit(text[at])) ++at;
    return at - from;
  };
  if (at < text.size() && text[at] == '-') ++at;
  const bool zero = at < text.size() && text[at] == '0';
  const size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (digits() == 0) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  double number;
  return at == text.size() && absl::SimpleAtod(text, &number) && std::isfinite(number);
}

bool IsExactInteger(absl::string_view text) {
  int64_t number;
  return IsJsonNumber(text) && text.find_first_of(".eE") == absl::string_view::npos && text != "-0" &&
         absl::SimpleAtoi(text, &number) && number >= -(int64_t{1} << 53) && number <= (int64_t{1} << 53);
}

absl::StatusOr<CellType> ParseCellType(absl::string_view name) {
  for (const NamedKind& known : kNames) {
    if (known.name == name) return CellType{known.kind, ""};
  }
  if (name.size() > 7 && name.substr(0, 6) == "split(" && name.back() == ')') {
    return CellType{Kind::kSplit, std::string(name.substr(6, name.size() - 7))};
  }
  return absl::InvalidArgumentError(
      absl::StrCat(Quoted(name),
                   " is no type of a column; there are text, integer, number, boolean, time, json, "
                   "words, numbers, point and split(SEPARATOR)"));
}

std::string CellTypeName(const CellType& type) {
  if (type.kind == Kind::kSplit) return absl::StrCat("split(", type.separator, ")");
  for (const NamedKind& known : kNames) {
    if (known.kind == type.kind) return std::string(known.name);
  }
  return "auto";
}

absl::StatusOr<std::optional<Value>> CellValue(absl::string_view cell, const CellType& type) {
  if (absl::StripAsciiWhitespace(cell).empty()) return std::nullopt;
  if (type.kind == Kind::kText || type.kind == Kind::kAuto) return Text(cell);
  cell = absl::StripAsciiWhitespace(cell);
  absl::StatusOr<Value> value;
  switch (type.kind) {
    case Kind::kInteger:
      value = Integer(cell);
      break;
    case Kind::kNumber:
      value = Number(cell);
      break;
    case Kind::kBoolean:
      value = Boolean(cell);
      break;
    case Kind::kTime: {
      auto time = ParseRowTime(cell);
      if (!time.ok()) return time.status();
      value = Text(FormatRowTime(*time));
      break;
    }
    case Kind::kPoint:
      value = Point(cell);
      break;
    case Kind::kJson: {
      Value parsed;
      auto status = ParseJsonValue(cell, &parsed);
      if (!status.ok()) return status;
      value = std::move(parsed);
      break;
    }
    default:
      value = Split(cell, type);
  }
  if (!value.ok()) return value.status();
  return *std::move(value);
}

absl::StatusOr<std::optional<Value>> PointOfCells(absl::string_view latitude, absl::string_view longitude) {
  latitude = absl::StripAsciiWhitespace(latitude);
  longitude = absl::StripAsciiWhitespace(longitude);
  if (latitude.empty() && longitude.empty()) return std::nullopt;
  if (latitude.empty() || longitude.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("hold only one of latitude and longitude ('", latitude,
                                                   "' and '", longitude, "'); a point has both"));
  }
  const auto lat = Degrees(latitude, kLatitude, 90);
  if (!lat.ok())
    return absl::InvalidArgumentError(
        absl::StrCat("do not make a point: the first ", lat.status().message()));
  const auto lon = Degrees(longitude, kLongitude, 180);
  if (!lon.ok())
    return absl::InvalidArgumentError(
        absl::StrCat("do not make a point: the second ", lon.status().message()));
  return PointValue(*lat, *lon);
}

absl::StatusOr<std::optional<Value>> TypedValue(const Value& value, const CellType& type) {
  if (type.kind == Kind::kAuto || type.kind == Kind::kJson) return value;
  switch (value.kind_case()) {
    case Value::kNullValue:
    case Value::KIND_NOT_SET:
      return std::nullopt;
    case Value::kStringValue:
      return CellValue(value.string_value(), type);
    case Value::kNumberValue:
    case Value::kBoolValue: {
      std::string text;
      AppendJson(value, &text);
      return CellValue(text, type);
    }
    default:
      break;
  }
  // A list stays a list; nothing else turns into one of the plain types.
  const bool wants_list =
      type.kind == Kind::kSplit || type.kind == Kind::kWords || type.kind == Kind::kNumbers;
  if (wants_list && value.has_list_value()) return value;
  std::string text;
  AppendJson(value, &text);
  return Not(text, CellTypeName(type));
}

}  // namespace waymark
