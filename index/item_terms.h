// What an item becomes in the index: the terms of its searched fields. One way for whoever indexes and
// whoever checks.
#pragma once
#include <vector>

#include "absl/types/span.h"
#include "google/protobuf/struct.pb.h"
#include "index/field_analyzers.h"
#include "index/indexed_fields.h"
#include "index/lucene_segments.h"

namespace waymark {

// Fields that hold a term, in the order of the schema. `scratch` keeps what was allocated; the answer lies in
// it.
absl::Span<const FieldTerms> TermsOfItem(const FieldAnalyzers& analyzers, const IndexedFields& fields,
                                         const google::protobuf::Struct& item,
                                         std::vector<FieldTerms>* scratch);

}  // namespace waymark
