// Which fields of items are searched, and what the words of an item in them are.
//
//   IndexedFields fields = IndexedFieldsOf(schema);
//   ForEachText(item.fields().fields().at("genres"), [](std::string_view value) { ... });
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "catalog/schema.h"
#include "google/protobuf/struct.pb.h"
#include "index/analysis_settings.h"

namespace waymark {

struct IndexedField {
  std::string name;
  double weight = 1;
  bool title = false;
  std::optional<AnalysisSettings> analysis = {};  // of its own; none: as the schema says
  bool operator==(const IndexedField&) const = default;
};

struct IndexedFields {
  std::vector<IndexedField> fields;
  // Of all fields, searched or not: what an index must know to tell a new field from one that items already
  // had.
  std::vector<std::string> known;
  bool declared = false;

  const IndexedField* Find(std::string_view name) const;
  bool Knows(std::string_view name) const;
  bool KnowsInside(std::string_view object) const;  // a field that lies inside
  bool operator==(const IndexedFields&) const = default;
};

// The schema's searchable fields; one whose analysis is not to be had counts as having the schema's. A weight
// of 0 is one that nobody gave: it counts as 1.
IndexedFields IndexedFieldsOf(const Schema& schema);

// Whether an index made for `before` serves `after` when no document changes: the same fields are searched
// in the same analysis, or fields were added that no item had (found from data, so not known before).
bool CanExtend(const IndexedFields& before, const IndexedFields& after);

// Whether one of the (top-level) fields is searched.
bool AnySearched(const IndexedFields& fields, absl::Span<const std::string> names);

// Calls visit for each text that the value holds: texts, numbers as their shortest text, the elements of
// arrays. Booleans and objects have none.
void ForEachText(const google::protobuf::Value& value, absl::FunctionRef<void(std::string_view)> visit);

// Words between the values of an array, so that no phrase runs from one into the next.
inline constexpr uint32_t kValueGap = 100;

}  // namespace waymark
