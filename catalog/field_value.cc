#include "catalog/field_value.h"

#include <unicode/bytestream.h>
#include <unicode/casemap.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <charconv>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"

namespace waymark {
namespace {

using google::protobuf::Value;
constexpr size_t kShownBytes = 40;

bool HasDigits(std::string_view text, size_t from, size_t count) {
  if (text.size() < from + count) return false;
  return std::all_of(text.begin() + from, text.begin() + from + count, absl::ascii_isdigit);
}

int Digits(std::string_view text, size_t from, size_t count) {
  int number = 0;
  for (size_t i = from; i < from + count; ++i) number = number * 10 + (text[i] - '0');
  return number;
}

double Micros(absl::Time time) { return static_cast<double>(absl::ToUnixMicros(time)); }

template <typename Civil>
TimeSpan SpanOf(Civil first) {
  const absl::TimeZone utc = absl::UTCTimeZone();
  return {Micros(absl::FromCivil(absl::CivilSecond(first), utc)),
          Micros(absl::FromCivil(absl::CivilSecond(first + 1), utc)) - 1};
}

std::optional<TimeSpan> ParseDate(std::string_view text) {
  const int month = Digits(text, 5, 2), day = Digits(text, 8, 2);
  const absl::CivilDay civil(Digits(text, 0, 4), month, day);
  if (civil.month() != month || civil.day() != day) return std::nullopt;  // 1995-02-30
  return SpanOf(civil);
}

bool StartsWithDate(std::string_view text) {
  return HasDigits(text, 0, 4) && text.size() >= 10 && text[4] == '-' && HasDigits(text, 5, 2) &&
         text[7] == '-' && HasDigits(text, 8, 2);
}

std::optional<TimeSpan> ParseDateTime(std::string_view text) {
  if (text.size() < 11 || (text[10] != 'T' && text[10] != 't' && text[10] != ' ')) return std::nullopt;
  std::string upper(text);
  upper[10] = 'T';
  if (upper.back() == 'z') upper.back() = 'Z';
  absl::Time time;
  if (!absl::ParseTime(absl::RFC3339_full, upper, &time, nullptr)) return std::nullopt;
  return TimeSpan{Micros(time), Micros(time)};
}

std::string ShownJson(const Value& value) {
  switch (value.kind_case()) {
    case Value::kNullValue:
      return "null";
    case Value::kNumberValue:
      return NumberText(value.number_value());
    case Value::kBoolValue:
      return value.bool_value() ? "true" : "false";
    case Value::kStringValue:
      return absl::StrCat("\"", ShortenedText(value.string_value()), "\"");
    case Value::kListValue:
      return absl::StrCat("an array of ", value.list_value().values_size());
    case Value::kStructValue:
      return "an object";
    case Value::KIND_NOT_SET:
      break;
  }
  return "nothing";
}

}  // namespace

void ForEachScalar(const Value& value, absl::FunctionRef<void(const Value&)> visit) {
  if (value.kind_case() == Value::kListValue) {
    for (const Value& element : value.list_value().values()) {
      if (element.kind_case() != Value::kNullValue) visit(element);
    }
  } else if (value.kind_case() != Value::kNullValue && value.kind_case() != Value::KIND_NOT_SET) {
    visit(value);
  }
}

std::optional<double> ScalarNumber(const Value& value, FieldType type) {
  double number = 0;
  if (type == storage::FieldRecord::TIME) {
    if (value.kind_case() != Value::kStringValue || !LooksLikeTime(value.string_value())) return std::nullopt;
    return ParseTimeSpan(value.string_value())->first_us;
  }
  if (value.kind_case() == Value::kBoolValue) {
    if (type != storage::FieldRecord::BOOLEAN) return std::nullopt;
    return value.bool_value() ? 1.0 : 0.0;
  }
  if (type == storage::FieldRecord::BOOLEAN) return std::nullopt;
  if (value.kind_case() == Value::kNumberValue) {
    number = value.number_value();
  } else if (value.kind_case() != Value::kStringValue || !absl::SimpleAtod(value.string_value(), &number)) {
    return std::nullopt;
  }
  if (!std::isfinite(number)) return std::nullopt;
  return number == 0 ? 0.0 : number;  // no negative zero: it would be a value of its own
}

std::optional<std::string> ScalarText(const Value& value) {
  if (value.kind_case() == Value::kStringValue) {
    if (value.string_value().empty()) return std::nullopt;
    return value.string_value();
  }
  if (value.kind_case() == Value::kNumberValue) return NumberText(value.number_value());
  if (value.kind_case() == Value::kBoolValue) return value.bool_value() ? "true" : "false";
  return std::nullopt;
}

std::string NumberText(double number) {
  if (IsWholeNumber(number) && std::abs(number) <= kLargestInteger) {
    return absl::StrCat(static_cast<int64_t>(number));
  }
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), number).ptr;
  return std::string(buffer, end);
}

std::optional<TimeSpan> ParseTimeSpan(std::string_view text) {
  if (text.size() == 4 && HasDigits(text, 0, 4)) return SpanOf(absl::CivilYear(Digits(text, 0, 4)));
  if (text.size() == 7 && HasDigits(text, 0, 4) && text[4] == '-' && HasDigits(text, 5, 2)) {
    const int month = Digits(text, 5, 2);
    if (month < 1 || month > 12) return std::nullopt;
    return SpanOf(absl::CivilMonth(Digits(text, 0, 4), month));
  }
  if (!StartsWithDate(text)) return std::nullopt;
  return text.size() == 10 ? ParseDate(text) : ParseDateTime(text);
}

bool LooksLikeTime(std::string_view text) {
  return StartsWithDate(text) && (text.size() == 10 ? ParseDate(text) : ParseDateTime(text)).has_value();
}

std::string ShortenedText(std::string_view text) {
  if (text.size() <= kShownBytes) return std::string(text);
  size_t end = kShownBytes;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

std::string ShortenedValue(const Value& value) { return ShownJson(value); }

bool IsValidUtf8(std::string_view text) {
  int32_t i = 0;
  const auto length = static_cast<int32_t>(text.size());
  while (i < length) {
    if (static_cast<uint8_t>(text[i]) < 0x80) {
      ++i;
      continue;
    }
    UChar32 character;
    U8_NEXT(text.data(), i, length, character);
    if (character < 0) return false;
  }
  return true;
}

std::string FoldCase(std::string_view text) {
  std::string folded;
  if (std::all_of(text.begin(), text.end(), absl::ascii_isascii)) {
    folded = text;
    absl::AsciiStrToLower(&folded);
    return folded;
  }
  icu::StringByteSink<std::string> sink(&folded);
  UErrorCode error = U_ZERO_ERROR;
  icu::CaseMap::utf8Fold(0, icu::StringPiece(text.data(), static_cast<int32_t>(text.size())), sink, nullptr,
                         error);
  return U_FAILURE(error) ? std::string(text) : folded;
}

std::string_view TypeName(FieldType type) {
  switch (type) {
    case storage::FieldRecord::TEXT:
      return "TEXT";
    case storage::FieldRecord::KEYWORD:
      return "KEYWORD";
    case storage::FieldRecord::INTEGER:
      return "INTEGER";
    case storage::FieldRecord::FLOATING:
      return "FLOATING";
    case storage::FieldRecord::BOOLEAN:
      return "BOOLEAN";
    case storage::FieldRecord::TIME:
      return "TIME";
    case storage::FieldRecord::OBJECT:
      return "OBJECT";
    case storage::FieldRecord::GEO:
      return "GEO";
    case storage::FieldRecord::VECTOR:
      return "VECTOR";
    default:
      return "TYPE_UNSPECIFIED";
  }
}

}  // namespace waymark
