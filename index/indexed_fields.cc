#include "index/indexed_fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "catalog/field_path.h"
#include "catalog/object_paths.h"

namespace waymark {

const IndexedField* IndexedFields::Find(std::string_view name) const {
  auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

bool IndexedFields::Knows(std::string_view name) const {
  return std::find(known.begin(), known.end(), name) != known.end();
}

bool IndexedFields::KnowsInside(std::string_view object) const {
  return std::any_of(known.begin(), known.end(), [&](const std::string& name) {
    return name.size() > object.size() && Touches(object, name);
  });
}

IndexedFields IndexedFieldsOf(const Schema& schema) {
  IndexedFields result;
  result.declared = schema.record().declared();
  const Field* title = schema.TitleField();
  const auto usual = AnalysisOf(schema.record());
  for (const Field& field : schema.fields()) {
    result.known.push_back(field.name());
    if (!field.searchable()) continue;
    result.fields.push_back({field.name(), field.search_weight() == 0 ? 1 : field.search_weight(),
                             title != nullptr && title->name() == field.name()});
    const auto own = AnalysisOf(schema.record(), field);
    if (usual.ok() && own.ok() && *own != *usual) result.fields.back().analysis = *own;
  }
  return result;
}

bool CanExtend(const IndexedFields& before, const IndexedFields& after) {
  for (const IndexedField& field : before.fields) {
    const IndexedField* same = after.Find(field.name);
    if (same == nullptr || same->analysis != field.analysis) return false;
  }
  for (const IndexedField& field : after.fields) {
    if (before.Find(field.name) != nullptr) continue;
    // A declared schema may name a field that items have held all the time.
    if (after.declared || before.declared || before.Knows(field.name)) return false;
    if (MayBeHeldAlready(
            field.name, [&](std::string_view name) { return before.Knows(name); },
            [&](std::string_view object) { return before.KnowsInside(object); })) {
      return false;
    }
  }
  return true;
}

bool AnySearched(const IndexedFields& fields, absl::Span<const std::string> names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::any_of(fields.fields.begin(), fields.fields.end(),
                       [&](const IndexedField& field) { return Touches(name, field.name); });
  });
}

void ForEachText(const google::protobuf::Value& value, absl::FunctionRef<void(std::string_view)> visit) {
  switch (value.kind_case()) {
    case google::protobuf::Value::kStringValue:
      visit(value.string_value());
      break;
    case google::protobuf::Value::kNumberValue: {
      const double number = value.number_value();
      char text[400];
      const bool whole = std::isfinite(number) && number == std::trunc(number);
      auto end = whole ? std::to_chars(text, text + sizeof(text), number, std::chars_format::fixed)
                       : std::to_chars(text, text + sizeof(text), number);
      visit({text, static_cast<size_t>(end.ptr - text)});
      break;
    }
    case google::protobuf::Value::kListValue:
      for (const auto& element : value.list_value().values()) ForEachText(element, visit);
      break;
    default:
      break;
  }
}

}  // namespace waymark
