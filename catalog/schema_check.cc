// Schema::Check: whether an item's fields fit.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "catalog/field_path.h"
#include "catalog/field_value.h"
#include "catalog/geo_point.h"
#include "catalog/schema.h"
#include "catalog/schema_inference.h"

namespace waymark {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;
using storage::FieldRecord;

// Nesting of the values of OBJECT fields and of fields outside the schema.
constexpr int kDeepest = 64;

std::string WhatItTakes(const Field& field) {
  switch (field.type()) {
    case FieldRecord::TEXT:
      return "text";
    case FieldRecord::KEYWORD:
      return "text of at most 1,024 bytes";
    case FieldRecord::INTEGER:
      return "whole numbers within 2^53 (write longer ones as text into a KEYWORD field)";
    case FieldRecord::FLOATING:
      return "finite numbers";
    case FieldRecord::BOOLEAN:
      return "true or false";
    case FieldRecord::TIME:
      return "RFC 3339 times (1995-11-22T00:00:00Z) or dates (1995-11-22)";
    case FieldRecord::GEO:
      return "points: {\"lat\": 52.5, \"lon\": 13.4} or text \"52.5,13.4\" (latitudes -90 to 90, longitudes "
             "-180 to 180)";
    default:
      return "objects";
  }
}

absl::Status Misfit(const Field& field, const std::string& held, bool declared) {
  return absl::InvalidArgumentError(
      absl::StrCat("field '", field.name(), "' holds ", held, "; it takes ",
                   field.array() ? "arrays of " : "", WhatItTakes(field),
                   declared ? "" : " (found from the data; declare the schema to give it another type)"));
}

absl::Status CheckAny(const std::string& name, const Value& value, int depth) {
  if (depth > kDeepest) {
    return absl::InvalidArgumentError(
        absl::StrCat("field '", name, "' is nested deeper than ", kDeepest, "; flatten it"));
  }
  switch (value.kind_case()) {
    case Value::kStringValue:
      if (IsValidUtf8(value.string_value())) return absl::OkStatus();
      return absl::InvalidArgumentError(
          absl::StrCat("field '", name, "' holds text that is no valid UTF-8; it takes UTF-8 only"));
    case Value::kNumberValue:
      if (std::isfinite(value.number_value())) return absl::OkStatus();
      return absl::InvalidArgumentError(absl::StrCat("field '", name, "' holds ", ShortenedValue(value),
                                                     "; numbers are finite, leave it out instead"));
    case Value::kListValue:
      for (const Value& element : value.list_value().values()) {
        if (absl::Status status = CheckAny(name, element, depth + 1); !status.ok()) return status;
      }
      return absl::OkStatus();
    case Value::kStructValue:
      for (const auto& [key, inner] : value.struct_value().fields()) {
        const std::string path = absl::StrCat(name, ".", ShortenedText(key));
        if (!IsValidUtf8(key)) {
          return absl::InvalidArgumentError(
              absl::StrCat("field '", name, "' has a name inside that is no valid UTF-8"));
        }
        if (absl::Status status = CheckAny(path, inner, depth + 1); !status.ok()) return status;
      }
      return absl::OkStatus();
    default:
      return absl::OkStatus();
  }
}

// Inferred fields also take what reads as their type: numbers in text fields and the other way round.
bool Fits(const Field& field, const Value& value, bool declared) {
  const bool text = value.kind_case() == Value::kStringValue;
  if (!declared && text && value.string_value().empty()) return true;
  switch (field.type()) {
    case FieldRecord::TEXT:
      return declared ? text : ScalarText(value).has_value();
    case FieldRecord::KEYWORD:
      if (text && value.string_value().size() > kLongestKeywordBytes) return false;
      return declared ? text : ScalarText(value).has_value();
    case FieldRecord::INTEGER: {
      if (declared && text) return false;
      const std::optional<double> number = ScalarNumber(value, field.type());
      return number && IsWholeNumber(*number) && std::abs(*number) <= kLargestInteger;
    }
    case FieldRecord::FLOATING:
      return !(declared && text) && ScalarNumber(value, field.type()).has_value();
    case FieldRecord::BOOLEAN:
    case FieldRecord::TIME:
      return ScalarNumber(value, field.type()).has_value();
    case FieldRecord::GEO:
      return PointOf(value).has_value();
    default:
      return !declared || value.kind_case() == Value::kStructValue || value.kind_case() == Value::kListValue;
  }
}

absl::Status CheckVector(const Field& field, const Value& value) {
  const auto takes = [&](const std::string& held) {
    return absl::InvalidArgumentError(absl::StrCat("field '", field.name(), "' holds ", held,
                                                   "; it takes arrays of ", field.dimension(), " numbers"));
  };
  if (value.kind_case() == Value::kNullValue) return absl::OkStatus();
  if (value.kind_case() != Value::kListValue) return takes(ShortenedValue(value));
  if (value.list_value().values_size() != field.dimension()) return takes(ShortenedValue(value));
  double norm = 0;
  for (int i = 0; i < field.dimension(); ++i) {
    const Value& number = value.list_value().values(i);
    if (number.kind_case() != Value::kNumberValue ||
        !std::isfinite(static_cast<float>(number.number_value()))) {
      return takes(absl::StrCat("an array with ", ShortenedValue(number), " at place ", i + 1));
    }
    norm += number.number_value() * number.number_value();
  }
  const bool cosine =
      field.metric() == FieldRecord::COSINE || field.metric() == FieldRecord::METRIC_UNSPECIFIED;
  if (!cosine || norm > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "field '", field.name(), "' holds a vector of zeros, which has no direction; leave it out"));
}

absl::Status CheckTyped(const Field& field, const Value& value, bool declared) {
  if (field.type() == FieldRecord::VECTOR) return CheckVector(field, value);
  if (field.type() != FieldRecord::OBJECT && value.kind_case() == Value::kListValue && !field.array()) {
    return Misfit(field, ShortenedValue(value), declared);
  }
  absl::Status status;
  int place = 0;
  ForEachScalar(value, [&](const Value& v) {
    if (!status.ok()) return;
    if (!Fits(field, v, declared)) {
      status = Misfit(field,
                      value.kind_case() == Value::kListValue
                          ? absl::StrCat("an array with ", ShortenedValue(v), " at place ", place + 1)
                          : ShortenedValue(v),
                      declared);
    }
    ++place;
  });
  return status;
}

}  // namespace

absl::Status Schema::Check(const Struct& fields) const {
  for (const auto& [name, value] : fields.fields()) {
    if (!IsValidUtf8(name)) {
      return absl::InvalidArgumentError("a field's name is no valid UTF-8; names take UTF-8 only");
    }
    if (absl::Status status = CheckAny(name, value, 1); !status.ok()) return status;
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) continue;
    if (absl::Status status = CheckTyped(fields_[found->second], value, record_.declared()); !status.ok()) {
      return status;
    }
  }
  absl::Status status;
  for (const size_t path : paths_) {
    ForEachAt(fields, fields_[path].name(), [&](const Value& value) {
      if (status.ok()) status = CheckTyped(fields_[path], value, record_.declared());
    });
  }
  return status;
}

}  // namespace waymark
