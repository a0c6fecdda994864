#include "pipeline/schema_growth.h"

#include <optional>
#include <utility>

#include "store/struct_fields.h"

namespace waymark {

using google::protobuf::Struct;

SchemaGrowth GrowSchema(const Schema& schema, absl::Span<const Struct* const> rows,
                        absl::FunctionRef<bool(size_t)> takes) {
  SchemaGrowth growth{.schema = schema, .results = std::vector<absl::Status>(rows.size())};
  const bool declared = schema.record().declared();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] == nullptr) continue;
    bool changed = false;
    std::optional<Schema> next;
    if (!declared) next = growth.schema.ExtendedBy(*rows[i], &changed);
    growth.results[i] = (changed ? *next : growth.schema).Check(*rows[i]);
    if (!changed || !growth.results[i].ok() || !takes(i)) continue;
    growth.schema = *std::move(next);
    growth.grown = true;
  }
  return growth;
}

Struct WrittenFields(const Struct& fields, const std::vector<std::string>& paths) {
  if (paths.empty()) return fields;
  Struct picked;
  ApplyPaths(fields, paths, &picked);
  return picked;
}

}  // namespace waymark
