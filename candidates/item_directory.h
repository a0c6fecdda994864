// What a model needs to know of items: which ordinal an id has here, and their content as hashes. Models are
// trained in one folder and may serve in another, so packages name items by id.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "catalog/catalog.h"
#include "store/store.h"

namespace waymark {

// Thread-safe.
class ItemDirectory {
 public:
  virtual ~ItemDirectory() = default;
  virtual std::optional<ItemOrdinal> Find(std::string_view id) const = 0;
  virtual std::vector<std::string> Ids(absl::Span<const ItemOrdinal> items) const = 0;
  // One more than the largest ordinal.
  virtual ItemOrdinal End() const = 0;
  virtual bool Live(ItemOrdinal item) const = 0;
  // Hashes of title words and category values, one list per item; empty when nothing is known.
  virtual void Content(absl::Span<const ItemOrdinal> items,
                       std::vector<std::vector<uint64_t>>* hashes) const = 0;
};

// The directory of a live collection.
class CatalogDirectory : public ItemDirectory {
 public:
  CatalogDirectory(const Store* store, Scope scope, const Catalog* catalog)
      : store_(store), scope_(scope), catalog_(catalog) {}
  std::optional<ItemOrdinal> Find(std::string_view id) const override { return store_->FindItem(scope_, id); }
  std::vector<std::string> Ids(absl::Span<const ItemOrdinal> items) const override {
    return store_->ItemIds(scope_, items);
  }
  ItemOrdinal End() const override { return store_->ItemEnd(scope_); }
  bool Live(ItemOrdinal item) const override { return catalog_->Live(item); }
  void Content(absl::Span<const ItemOrdinal> items,
               std::vector<std::vector<uint64_t>>* hashes) const override;

 private:
  const Store* store_;
  Scope scope_;
  const Catalog* catalog_;
};

}  // namespace waymark
