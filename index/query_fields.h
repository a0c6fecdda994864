// What a query may say of fields: «title:star» and «year:1990..1999».
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "catalog/item_set.h"

namespace waymark {

// Thread-safe.
class QueryFields {
 public:
  virtual ~QueryFields() = default;
  virtual bool Searched(std::string_view name) const = 0;
  virtual bool Filtered(std::string_view name) const = 0;
  // The items that pass a filter (docs/filters.md); null: it is none.
  virtual std::shared_ptr<const ItemSet> Passing(const std::string& filter) const = 0;
};

}  // namespace waymark
