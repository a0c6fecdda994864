#include "index/field_analyzers.h"

#include <algorithm>

namespace waymark {

FieldAnalyzers::FieldAnalyzers(const AnalysisSettings& schema, const IndexedFields& fields)
    : schema_(schema) {
  for (const IndexedField& field : fields.fields) {
    const AnalysisSettings& settings = field.analysis ? *field.analysis : schema;
    auto group = std::find_if(groups_.begin(), groups_.end(),
                              [&](const Analyzer& a) { return a.settings() == settings; });
    group_of_.emplace_back(field.name, static_cast<uint32_t>(group - groups_.begin()));
    if (group == groups_.end()) groups_.emplace_back(settings);
  }
  if (groups_.empty()) groups_.push_back(schema_);
}

uint32_t FieldAnalyzers::GroupOf(std::string_view field) const {
  const auto found = std::find_if(group_of_.begin(), group_of_.end(),
                                  [&](const auto& entry) { return entry.first == field; });
  return found == group_of_.end() ? 0 : found->second;
}

}  // namespace waymark
