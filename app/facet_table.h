// Facets as people read them: a table for each.
#pragma once
#include <string>

#include "google/protobuf/repeated_field.h"
#include "waymark/v1/facet.pb.h"

namespace waymark {

// Empty without facets; else each table ends with an empty line.
std::string FacetTables(const google::protobuf::RepeatedPtrField<v1::Facet>& facets, int width);

}  // namespace waymark
