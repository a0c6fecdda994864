// Which fields of items are completed.
#pragma once
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/schema.h"

namespace waymark {

struct SuggestedFields {
  std::vector<std::string> titles;  // texts of items
  std::vector<std::string> values;  // KEYWORD fields
  bool operator==(const SuggestedFields&) const = default;
  bool Has(const std::string& name) const;
};

// Titles: the fields that are marked as such; where none is, the TEXT fields that are searched. Values: the
// KEYWORD fields that are categories; where none is, those that are searched.
SuggestedFields SuggestedFieldsOf(const Schema& schema);

// Those of `fields` that a request names; all where it names none. INVALID_ARGUMENT: «fields[0]: ...» with
// the names that there are.
absl::StatusOr<SuggestedFields> ChooseFields(const SuggestedFields& fields,
                                             const std::vector<std::string>& names);

}  // namespace waymark
