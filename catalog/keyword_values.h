// How many items hold a value of a KEYWORD field, read off its column.
//
//   CountItemsWith(catalog, "genres", "Drama", nullptr)   // live items with the genre
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "catalog/catalog.h"

namespace waymark {

// Among `allowed`; null: all that live. 0 for fields and values that are not there. Thread-safe.
int64_t CountItemsWith(const Catalog& catalog, std::string_view field, const std::string& value,
                       const ItemSet* allowed);

}  // namespace waymark
