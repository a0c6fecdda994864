#include "catalog/schema_inference.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "catalog/field_value.h"
#include "catalog/geo_point.h"
#include "catalog/object_paths.h"

namespace waymark {
namespace {

using google::protobuf::Value;
using storage::FieldRecord;

constexpr size_t kKeywordWords = 8;
constexpr size_t kKeywordCharacters = 100;
constexpr std::array<std::string_view, 11> kTextNames = {"title", "name",     "text",    "description",
                                                         "body",  "abstract", "summary", "overview",
                                                         "plot",  "content",  "extract"};
constexpr std::array<std::string_view, 26> kCategoryNames = {
    "genre",      "category", "categorie", "tag",      "class",   "classe",   "brand",   "artist", "cast",
    "type",       "actor",    "director",  "author",   "studio",  "label",    "color",   "colour", "material",
    "department", "topic",    "keyword",   "language", "country", "countrie", "subject", "format"};

// What one scalar looks like; wider types have larger numbers within their family.
FieldType ScalarType(const Value& value) {
  switch (value.kind_case()) {
    case Value::kNumberValue:
      return IsWholeNumber(value.number_value()) ? FieldRecord::INTEGER : FieldRecord::FLOATING;
    case Value::kBoolValue:
      return FieldRecord::BOOLEAN;
    case Value::kStringValue:
      return LooksLikeTime(value.string_value()) ? FieldRecord::TIME : FieldRecord::KEYWORD;
    default:
      // {"lat": ..., "lon": ...} and nothing else.
      return value.struct_value().fields_size() == 2 && PointOf(value) ? FieldRecord::GEO
                                                                       : FieldRecord::OBJECT;
  }
}

// What holds both. Scalars and objects have nothing in common.
FieldType CommonType(FieldType a, FieldType b) {
  if (a == b || a == FieldRecord::TYPE_UNSPECIFIED) return b;
  for (const FieldType type : {FieldRecord::OBJECT, FieldRecord::GEO}) {
    if (a == type || b == type) return FieldRecord::OBJECT;
  }
  const auto number = [](FieldType t) { return t == FieldRecord::INTEGER || t == FieldRecord::FLOATING; };
  return number(a) && number(b) ? FieldRecord::FLOATING : FieldRecord::KEYWORD;
}

bool IsAddress(std::string_view text) {
  return text.substr(0, 7) == "http://" || text.substr(0, 8) == "https://" || text.substr(0, 5) == "data:";
}

struct Length {
  size_t words = 0, characters = 0;
};

Length LengthOf(std::string_view text) {
  Length length;
  bool inside = false;
  for (const char c : text) {
    if ((static_cast<uint8_t>(c) & 0xC0) != 0x80) ++length.characters;
    const bool space = absl::ascii_isspace(c);
    if (!space && !inside) ++length.words;
    inside = !space;
  }
  return length;
}

// What makes a new field TEXT.
bool IsLongText(std::string_view text) {
  if (text.size() > kLongestKeywordBytes) return true;
  const Length length = LengthOf(text);
  return length.words > kKeywordWords || (length.characters > kKeywordCharacters && length.words > 1);
}

// What takes a KEYWORD field's filters from it: surely prose, not one long name among short ones.
bool IsProse(std::string_view text) {
  if (text.size() > kLongestKeywordBytes) return true;
  const Length length = LengthOf(text);
  return length.words > kKeywordWords && length.characters > kKeywordCharacters;
}

bool AnyText(const Value& value, bool (*holds)(std::string_view)) {
  bool any = false;
  ForEachScalar(value, [&](const Value& v) {
    if (v.kind_case() == Value::kStringValue && holds(v.string_value())) any = true;
  });
  return any;
}

// Names say the same of what lies inside objects.
std::string LowerName(const std::string& path) { return absl::AsciiStrToLower(std::string(LastName(path))); }

bool HasTextName(const std::string& path) {
  return std::find(kTextNames.begin(), kTextNames.end(), LowerName(path)) != kTextNames.end();
}

bool HasCategoryName(const std::string& path) {
  std::string lower = LowerName(path);
  const auto known = [&] {
    return std::find(kCategoryNames.begin(), kCategoryNames.end(), lower) != kCategoryNames.end();
  };
  if (known()) return true;
  if (lower.empty() || lower.back() != 's') return false;
  lower.pop_back();
  return known();
}

bool LooksLikeYear(const Value& value) {
  bool all = true;
  ForEachScalar(value, [&](const Value& v) {
    all = all && v.kind_case() == Value::kNumberValue && v.number_value() >= 1000 && v.number_value() <= 2999;
  });
  return all;
}

// What follows from type, name and value.
void SetUses(const Value& value, Field* field) {
  const FieldType type = field->type();
  field->set_filterable(type != FieldRecord::TEXT && type != FieldRecord::OBJECT);
  bool searchable = false;
  if (type == FieldRecord::TEXT || type == FieldRecord::KEYWORD) searchable = !AnyText(value, IsAddress);
  if (type == FieldRecord::INTEGER) {
    searchable = absl::StrContains(LowerName(field->name()), "year") || LooksLikeYear(value);
  }
  field->set_searchable(searchable);
  field->set_search_weight(searchable ? 1 : 0);
  field->set_category(type == FieldRecord::KEYWORD && searchable &&
                      (field->array() || HasCategoryName(field->name())));
}

FieldType TypeOf(const std::string& name, const Value& value, bool (*is_text)(std::string_view)) {
  FieldType type = FieldRecord::TYPE_UNSPECIFIED;
  ForEachScalar(value, [&](const Value& v) {
    if (v.kind_case() != Value::kStringValue || !v.string_value().empty()) {
      type = CommonType(type, ScalarType(v));
    }
  });
  if (type == FieldRecord::KEYWORD && AnyText(value, is_text)) return FieldRecord::TEXT;
  // Also of a number: the title of a film may be 300.
  const bool scalar =
      type != FieldRecord::TYPE_UNSPECIFIED && type != FieldRecord::OBJECT && type != FieldRecord::GEO;
  return scalar && HasTextName(name) ? FieldRecord::TEXT : type;
}

// The type that an inferred field of type `held` takes on for values of type `given`; `held` where it stays.
FieldType WidenedType(FieldType held, FieldType given) {
  switch (held) {
    case FieldRecord::INTEGER:
      return given == FieldRecord::FLOATING ? given : held;
    case FieldRecord::TIME:
    case FieldRecord::BOOLEAN:
      if (given == FieldRecord::OBJECT || given == held) return held;
      return given == FieldRecord::TEXT ? given : FieldRecord::KEYWORD;
    case FieldRecord::KEYWORD:
      return given == FieldRecord::TEXT ? given : held;
    case FieldRecord::GEO:
      return given == FieldRecord::OBJECT ? given : held;
    default:
      return held;
  }
}

}  // namespace

std::optional<Field> InferField(const std::string& name, const Value& value) {
  Field field;
  field.set_name(name);
  field.set_type(TypeOf(name, value, IsLongText));
  if (field.type() == FieldRecord::TYPE_UNSPECIFIED) return std::nullopt;
  field.set_array(value.kind_case() == Value::kListValue && field.type() != FieldRecord::OBJECT);
  SetUses(value, &field);
  return field;
}

std::optional<Field> WidenField(const Field& field, const Value& value) {
  const bool list = value.kind_case() == Value::kListValue;
  if (field.type() == FieldRecord::OBJECT) return std::nullopt;
  if (field.type() == FieldRecord::TEXT && (field.array() || !list)) return std::nullopt;
  const FieldType given = TypeOf(field.name(), value, IsProse);
  if (given == FieldRecord::TYPE_UNSPECIFIED) return std::nullopt;
  const bool points = field.type() == FieldRecord::GEO;
  // Of objects only points give way, to other objects; text stays where it names a point.
  if (!points && (given == FieldRecord::OBJECT || given == FieldRecord::GEO)) return std::nullopt;
  if (points && given != FieldRecord::OBJECT && given != FieldRecord::GEO) return std::nullopt;
  const FieldType type = WidenedType(field.type(), given);
  const bool array = (field.array() || list) && type != FieldRecord::OBJECT;
  if (type == field.type() && array == field.array()) return std::nullopt;
  Field wider = field;
  wider.set_type(type);
  wider.set_array(array);
  // A number that was found by queries stays so; text and keywords are searched as if they were new.
  if (type != field.type() && type != FieldRecord::FLOATING) SetUses(value, &wider);
  if (type == FieldRecord::KEYWORD && array && wider.searchable()) wider.set_category(true);
  return wider;
}

}  // namespace waymark
