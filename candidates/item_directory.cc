#include "candidates/item_directory.h"

namespace waymark {

void CatalogDirectory::Content(absl::Span<const ItemOrdinal> items,
                               std::vector<std::vector<uint64_t>>* hashes) const {
  std::vector<std::vector<uint64_t>> categories;
  catalog_->ReadContent(items, hashes, &categories);
  for (size_t i = 0; i < items.size(); ++i) {
    (*hashes)[i].insert((*hashes)[i].end(), categories[i].begin(), categories[i].end());
  }
}

}  // namespace waymark
