#include "catalog/sort_order.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "catalog/column_field.h"
#include "catalog/field_value.h"
#include "catalog/geo_filter.h"

namespace waymark {
namespace {

using storage::FieldRecord;

constexpr std::string_view kDistanceFunction = "geo_distance";

absl::Status Refused(std::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat("order_by: ", std::string(message)));
}

// Field names and directions, one after the other.
class OrderScanner {
 public:
  explicit OrderScanner(std::string_view text) : rest_(text) { SkipSpace(); }
  bool AtEnd() const { return rest_.empty(); }
  bool TakeComma() {
    if (rest_.empty() || rest_[0] != ',') return false;
    rest_.remove_prefix(1);
    SkipSpace();
    return true;
  }
  // What stands between the parentheses of geo_distance(...); none: something else comes next.
  std::optional<absl::StatusOr<std::string_view>> TakeDistance() {
    std::string_view rest = rest_;
    if (rest.substr(0, kDistanceFunction.size()) != kDistanceFunction) return std::nullopt;
    rest.remove_prefix(kDistanceFunction.size());
    while (!rest.empty() && absl::ascii_isspace(rest[0])) rest.remove_prefix(1);
    if (rest.empty() || rest[0] != '(') return std::nullopt;
    const size_t end = rest.find(')');
    if (end == rest.npos) {
      return Refused("the parenthesis of geo_distance is not closed; add )");
    }
    const std::string_view inside = rest.substr(1, end - 1);
    rest_ = rest.substr(end + 1);
    SkipSpace();
    return inside;
  }
  // A bare word, or one in double quotes, which may hold anything but quotes. Empty: there is none.
  absl::StatusOr<std::string> TakeWord() {
    std::string word;
    if (!rest_.empty() && rest_[0] == '"') {
      const size_t end = rest_.find('"', 1);
      if (end == rest_.npos) {
        return Refused(absl::StrCat("the quote before '", ShortenedText(rest_.substr(1)), "' is not closed"));
      }
      word = std::string(rest_.substr(1, end - 1));
      rest_.remove_prefix(end + 1);
    } else {
      size_t end = 0;
      while (end < rest_.size() && rest_[end] != ',' && !absl::ascii_isspace(rest_[end])) ++end;
      word = std::string(rest_.substr(0, end));
      rest_.remove_prefix(end);
    }
    SkipSpace();
    return word;
  }

 private:
  void SkipSpace() {
    while (!rest_.empty() && absl::ascii_isspace(rest_[0])) rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

absl::StatusOr<SortKey> ReadField(OrderScanner* scanner, const Schema& schema) {
  static constexpr FieldType kTypes[] = {FieldRecord::KEYWORD, FieldRecord::INTEGER, FieldRecord::FLOATING,
                                         FieldRecord::BOOLEAN, FieldRecord::TIME};
  static constexpr FieldType kPoints[] = {FieldRecord::GEO};
  if (const auto distance = scanner->TakeDistance()) {
    if (!distance->ok()) return distance->status();
    const auto arguments = ReadDistanceArguments(**distance);
    if (!arguments.ok()) return Refused(std::string(arguments.status().message()));
    auto field = FindColumnField(schema, arguments->field, "order_by", kPoints);
    if (!field.ok()) return field.status();
    return SortKey{.field = **field, .from = arguments->from};
  }
  auto name = scanner->TakeWord();
  if (!name.ok()) return name.status();
  if (name->empty())
    return Refused("a field is missing at a comma; it takes fields as in \"price desc, year\"");
  const Field* geo = schema.Find(*name);
  if (geo != nullptr && geo->type() == FieldRecord::GEO) {
    return Refused(absl::StrCat("field '", *name,
                                "' is GEO; it sorts by the distance from a point: geo_distance(", *name,
                                ", 52.5, 13.4)"));
  }
  auto field = FindColumnField(schema, *name, "order_by", kTypes);
  if (!field.ok()) return field.status();
  return SortKey{.field = **field};
}

absl::StatusOr<SortKey> ReadKey(OrderScanner* scanner, const Schema& schema) {
  auto key = ReadField(scanner, schema);
  if (!key.ok()) return key.status();
  auto direction = scanner->TakeWord();
  if (!direction.ok()) return direction.status();
  key->descending = absl::EqualsIgnoreCase(*direction, "desc");
  if (!key->descending && !direction->empty() && !absl::EqualsIgnoreCase(*direction, "asc")) {
    return Refused(absl::StrCat("'", ShortenedText(*direction), "' stands after field '", key->field.name(),
                                "'; it takes asc, desc or a comma there"));
  }
  return key;
}

}  // namespace

absl::StatusOr<SortOrder> ParseSortOrder(std::string_view text, const Schema& schema) {
  if (text.size() > kMostOrderBytes) {
    return Refused(absl::StrCat("has ", text.size(), " bytes; it takes at most ", kMostOrderBytes));
  }
  SortOrder order;
  OrderScanner scanner(text);
  while (!scanner.AtEnd()) {
    auto key = ReadKey(&scanner, schema);
    if (!key.ok()) return key.status();
    for (const SortKey& before : order.keys) {
      if (before.field.name() != key->field.name() || before.from != key->from) continue;
      return Refused(absl::StrCat("field '", key->field.name(), "' is named twice; once is enough"));
    }
    order.keys.push_back(*std::move(key));
    if (order.keys.size() > kMostSortKeys) {
      return Refused(absl::StrCat("has more than ", kMostSortKeys, " fields, the most that it takes"));
    }
    if (scanner.AtEnd()) break;
    if (!scanner.TakeComma()) return Refused("a comma is missing between fields, as in \"price desc, year\"");
    if (scanner.AtEnd()) return Refused("it ends with a comma; take that out, or name another field");
  }
  return order;
}

const SortKey* FindDistance(const SortOrder& order) {
  for (const SortKey& key : order.keys) {
    if (key.from) return &key;
  }
  return nullptr;
}

}  // namespace waymark
