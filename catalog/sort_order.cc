#include "catalog/sort_order.h"

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "catalog/column_field.h"
#include "catalog/field_value.h"

namespace waymark {
namespace {

using storage::FieldRecord;

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

absl::StatusOr<SortKey> ReadKey(OrderScanner* scanner, const Schema& schema) {
  static constexpr FieldType kTypes[] = {FieldRecord::KEYWORD, FieldRecord::INTEGER, FieldRecord::FLOATING,
                                         FieldRecord::BOOLEAN, FieldRecord::TIME};
  auto name = scanner->TakeWord();
  if (!name.ok()) return name.status();
  if (name->empty())
    return Refused("a field is missing at a comma; it takes fields as in \"price desc, year\"");
  auto field = FindColumnField(schema, *name, "order_by", kTypes);
  if (!field.ok()) return field.status();
  auto direction = scanner->TakeWord();
  if (!direction.ok()) return direction.status();
  const bool descending = absl::EqualsIgnoreCase(*direction, "desc");
  if (!descending && !direction->empty() && !absl::EqualsIgnoreCase(*direction, "asc")) {
    return Refused(absl::StrCat("'", ShortenedText(*direction), "' stands after field '", *name,
                                "'; it takes asc, desc or a comma there"));
  }
  return SortKey{**field, descending};
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
      if (before.field.name() != key->field.name()) continue;
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

}  // namespace waymark
