#include "index/item_terms.h"

#include "catalog/field_path.h"

namespace waymark {

absl::Span<const FieldTerms> TermsOfItem(const FieldAnalyzers& analyzers, const IndexedFields& fields,
                                         const google::protobuf::Struct& item,
                                         std::vector<FieldTerms>* scratch) {
  size_t used = 0;
  for (const IndexedField& field : fields.fields) {
    if (used == scratch->size()) scratch->emplace_back();
    FieldTerms& terms = (*scratch)[used];
    terms.field = field.name;
    terms.terms.Clear();
    const Analyzer& analyzer = analyzers.Of(field.name);
    uint32_t position = 0;
    ForEachAt(item, field.name, [&](const google::protobuf::Value& value) {
      ForEachText(value, [&](std::string_view text) {
        position = analyzer.AnalyzeDocument(text, position, &terms.terms) + kValueGap;
      });
    });
    used += !terms.terms.empty();
  }
  return absl::MakeConstSpan(*scratch).subspan(0, used);
}

}  // namespace waymark
