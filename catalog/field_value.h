// How the values of an item's JSON fields are read as numbers, times and terms: one meaning for columns,
// checks, inference and filters.
//
//   ForEachScalar(value, [&](const google::protobuf::Value& v) { ... });   // itself, or an array's elements
//   std::optional<double> micros = ScalarNumber(v, storage::FieldRecord::TIME);
#pragma once
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "catalog/schema.h"
#include "google/protobuf/struct.pb.h"

namespace waymark {

// Whole numbers up to this are exact in JSON.
inline constexpr double kLargestInteger = 9007199254740992.0;  // 2^53

inline bool IsNumeric(FieldType type) {
  return type == storage::FieldRecord::INTEGER || type == storage::FieldRecord::FLOATING ||
         type == storage::FieldRecord::BOOLEAN || type == storage::FieldRecord::TIME;
}
inline bool IsWholeNumber(double number) { return std::isfinite(number) && std::trunc(number) == number; }

// The value itself, or each element of a list; nulls are passed over.
void ForEachScalar(const google::protobuf::Value& value,
                   absl::FunctionRef<void(const google::protobuf::Value&)> visit);

// As a number column holds it: times in microseconds since 1970, booleans 0 and 1. None: no such number.
// Text is read where it holds a number; "" is no value.
std::optional<double> ScalarNumber(const google::protobuf::Value& value, FieldType type);

// As a keyword column holds it: text as it is, numbers in their shortest exact form, booleans true and false.
// None: null, lists, objects and empty text.
std::optional<std::string> ScalarText(const google::protobuf::Value& value);
std::string NumberText(double number);

// The times that a text names, microseconds since 1970, both ends included: an instant for RFC 3339
// date-times, the whole (UTC) day, month or year for 1995-11-22, 1995-11 and 1995.
struct TimeSpan {
  double first_us = 0, last_us = 0;
};
std::optional<TimeSpan> ParseTimeSpan(std::string_view text);
// RFC 3339 date-times and dates only: what makes a text field a TIME field.
bool LooksLikeTime(std::string_view text);

// For messages: the value as JSON, cut after 40 bytes at a character's border.
std::string ShortenedValue(const google::protobuf::Value& value);
std::string ShortenedText(std::string_view text);

bool IsValidUtf8(std::string_view text);
// Lower case for comparisons without case (Unicode's full case folding).
std::string FoldCase(std::string_view text);

std::string_view TypeName(FieldType type);

}  // namespace waymark
