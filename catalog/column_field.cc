#include "catalog/column_field.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "catalog/field_value.h"
#include "catalog/nearest_name.h"

namespace waymark {
namespace {

constexpr size_t kNamesShown = 8;

bool Takes(absl::Span<const FieldType> types, FieldType type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

std::string Listed(const std::vector<std::string_view>& names) {
  if (names.empty()) return "there is none";
  std::string text = "here ";
  for (size_t i = 0; i < std::min(names.size(), kNamesShown); ++i) {
    absl::StrAppend(&text, i == 0 ? "'" : ", '", std::string(names[i]), "'");
  }
  if (names.size() > kNamesShown) text += ", ...";
  return text;
}

}  // namespace

absl::StatusOr<const Field*> FindColumnField(const Schema& schema, std::string_view name,
                                             std::string_view place, absl::Span<const FieldType> takes) {
  const Field* field = schema.Find(name);
  if (field != nullptr && Takes(takes, field->type())) return field;
  std::vector<std::string_view> fitting;
  for (const Field& other : schema.fields()) {
    if (Takes(takes, other.type())) fitting.push_back(other.name());
  }
  std::string types;
  for (size_t i = 0; i < takes.size(); ++i) {
    absl::StrAppend(&types,
                    i == 0                  ? ""
                    : i + 1 == takes.size() ? " or "
                                            : ", ",
                    std::string(TypeName(takes[i])));
  }
  std::string message = absl::StrCat(std::string(place), ": '", ShortenedText(name), "' is ");
  if (field == nullptr) {
    const std::string nearest = NearestName(name, fitting);
    absl::StrAppend(&message, "not in the schema; ",
                    nearest.empty() ? "it takes" : absl::StrCat("did you mean '", nearest, "'? It takes"));
  } else {
    absl::StrAppend(&message, std::string(TypeName(field->type())), "; it takes");
  }
  return absl::InvalidArgumentError(
      absl::StrCat(message, " fields that are ", types, " (", Listed(fitting), ")"));
}

}  // namespace waymark
