// How each searched field's text becomes words: most fields as the schema says, some in a language of their
// own.
//
//   FieldAnalyzers analyzers(schema_settings, fields);
//   analyzers.Of("titel")        // German
//   analyzers.groups()           // each analysis that searched fields have, once
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "index/analyzer.h"
#include "index/indexed_fields.h"

namespace waymark {

// Immutable; thread-safe.
class FieldAnalyzers {
 public:
  // `schema`: of fields that have no analysis of their own.
  explicit FieldAnalyzers(const AnalysisSettings& schema = {}, const IndexedFields& fields = {});

  // The schema's own: that of synonyms and rules.
  const Analyzer& schema() const { return schema_; }
  // At least one: the schema's, where no field is searched.
  absl::Span<const Analyzer> groups() const { return groups_; }
  // Of a searched field; of another one, the first.
  uint32_t GroupOf(std::string_view field) const;
  const Analyzer& Of(std::string_view field) const { return groups_[GroupOf(field)]; }

 private:
  Analyzer schema_;
  std::vector<Analyzer> groups_;
  std::vector<std::pair<std::string, uint32_t>> group_of_;
};

}  // namespace waymark
