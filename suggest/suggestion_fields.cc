#include "suggest/suggestion_fields.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "catalog/nearest_name.h"

namespace waymark {
namespace {

using storage::FieldRecord;
constexpr size_t kMaxNames = 20;
constexpr size_t kShownBytes = 64;

std::vector<std::string> NamesOf(const Schema& schema, bool (*takes)(const Field&)) {
  std::vector<std::string> names;
  for (const Field& field : schema.fields()) {
    if (takes(field)) names.push_back(field.name());
  }
  return names;
}

bool Among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

absl::Status Unknown(const SuggestedFields& fields, size_t place, const std::string& name) {
  std::vector<std::string_view> known;
  for (const auto* names : {&fields.titles, &fields.values})
    known.insert(known.end(), names->begin(), names->end());
  std::string listed;
  for (const std::string_view field : known) {
    absl::StrAppend(&listed, listed.empty() ? "'" : ", '", std::string(field), "'");
  }
  const std::string nearest = NearestName(name, known);
  return absl::InvalidArgumentError(
      absl::StrCat("fields[", place, "]: '", name.substr(0, kShownBytes), "' is no field that is suggested; ",
                   nearest.empty() ? "" : absl::StrCat("did you mean '", nearest, "'? "),
                   listed.empty() ? "there is none: mark a title or a category in the schema"
                                  : absl::StrCat("it takes ", listed)));
}

}  // namespace

bool SuggestedFields::Has(const std::string& name) const {
  return Among(titles, name) || Among(values, name);
}

SuggestedFields SuggestedFieldsOf(const Schema& schema) {
  SuggestedFields fields;
  fields.titles = NamesOf(schema, [](const Field& f) { return f.title(); });
  if (fields.titles.empty()) {
    fields.titles =
        NamesOf(schema, [](const Field& f) { return f.type() == FieldRecord::TEXT && f.searchable(); });
  }
  fields.values = NamesOf(
      schema, [](const Field& f) { return f.type() == FieldRecord::KEYWORD && f.category() && !f.title(); });
  if (fields.values.empty()) {
    fields.values = NamesOf(schema, [](const Field& f) {
      return f.type() == FieldRecord::KEYWORD && f.searchable() && !f.title();
    });
  }
  return fields;
}

absl::StatusOr<SuggestedFields> ChooseFields(const SuggestedFields& fields,
                                             const std::vector<std::string>& names) {
  if (names.empty()) return fields;
  if (names.size() > kMaxNames) {
    return absl::InvalidArgumentError(
        absl::StrCat("fields: has ", names.size(), " names; it takes at most ", kMaxNames));
  }
  SuggestedFields chosen;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!fields.Has(names[i])) return Unknown(fields, i, names[i]);
    if (chosen.Has(names[i])) continue;
    (Among(fields.titles, names[i]) ? chosen.titles : chosen.values).push_back(names[i]);
  }
  return chosen;
}

}  // namespace waymark
