#include "catalog/schema_merge.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "catalog/field_value.h"

namespace waymark {
namespace {

using storage::FieldRecord;
using storage::SchemaRecord;

void MergeAnalysis(const SchemaRecord& changes, SchemaRecord* merged) {
  if (!changes.language().empty()) {
    // Another language's default stemmer and analyzer are others.
    if (changes.language() != merged->language()) {
      merged->clear_stemmer();
      merged->clear_analyzer();
    }
    merged->set_language(changes.language());
    merged->set_remove_stop_words(changes.remove_stop_words());
  } else if (changes.remove_stop_words()) {
    merged->set_remove_stop_words(true);
  }
  if (!changes.stemmer().empty()) merged->set_stemmer(changes.stemmer());
  if (!changes.analyzer().empty()) merged->set_analyzer(changes.analyzer());
}

}  // namespace

bool SaysNothing(const FieldRecord& field) {
  return field.type() == FieldRecord::TYPE_UNSPECIFIED && !field.array() && !field.searchable() &&
         field.search_weight() == 0 && !field.filterable() && !field.title() && !field.category() &&
         field.analyzer().empty() && field.language().empty() && field.stemmer().empty() &&
         !field.has_remove_stop_words() && field.dimension() == 0 &&
         field.metric() == FieldRecord::METRIC_UNSPECIFIED;
}

absl::StatusOr<SchemaRecord> MergeSchema(const SchemaRecord& present, const SchemaRecord& changes) {
  absl::flat_hash_map<std::string, const FieldRecord*> named;
  for (const FieldRecord& field : changes.fields()) {
    if (named.emplace(field.name(), &field).second) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("schema, field '", ShortenedText(field.name()), "': is there twice; names are unique"));
  }
  SchemaRecord merged = present;
  merged.clear_fields();
  absl::flat_hash_map<std::string, bool> there;
  for (const FieldRecord& field : present.fields()) {
    there[field.name()] = true;
    const auto change = named.find(field.name());
    if (change == named.end()) {
      *merged.add_fields() = field;
    } else if (!SaysNothing(*change->second)) {
      *merged.add_fields() = *change->second;
    }
  }
  for (const FieldRecord& field : changes.fields()) {
    if (there.contains(field.name())) continue;
    if (SaysNothing(field) && !field.name().empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "schema, field '", ShortenedText(field.name()),
          "': has no type, which drops a field, and is not in the schema; give one of TEXT, KEYWORD, "
          "INTEGER, FLOATING, BOOLEAN, TIME, OBJECT, GEO, VECTOR"));
    }
    *merged.add_fields() = field;
  }
  if (merged.fields().empty()) {
    return absl::InvalidArgumentError(
        "schema.fields: drops every field, which would leave nothing to search or filter by; keep one");
  }
  MergeAnalysis(changes, &merged);
  return merged;
}

}  // namespace waymark
