#include "catalog/keyword_values.h"

#include "catalog/item_columns.h"
#include "catalog/item_set_impl.h"

namespace waymark {

int64_t CountItemsWith(const Catalog& catalog, std::string_view field, const std::string& value,
                       const ItemSet* allowed) {
  uint64_t count = 0;
  catalog.Read([&](const ItemColumns& columns) {
    const KeywordColumn* column = columns.FindKeywords(field);
    if (column == nullptr) return;
    const auto term = column->Find(value);
    if (!term) return;
    count = allowed == nullptr ? column->CountOf(*term) : column->CountAmong(*term, allowed->impl().bits);
  });
  return static_cast<int64_t>(count);
}

}  // namespace waymark
