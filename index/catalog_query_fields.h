// The fields that a query may name: those that the index searches, and those that the catalogue filters by.
#pragma once
#include "catalog/catalog.h"
#include "index/indexed_fields.h"
#include "index/query_fields.h"

namespace waymark {

class CatalogQueryFields : public QueryFields {
 public:
  enum class Conditions {
    kEvaluated,
    kRead,  // no item passes: where only the words of the query are wanted
  };
  // All outlive it.
  CatalogQueryFields(const IndexedFields& searched, const Catalog& catalog, Conditions conditions)
      : searched_(searched), catalog_(catalog), conditions_(conditions) {}

  bool Searched(std::string_view name) const override { return searched_.Find(name) != nullptr; }
  bool Filtered(std::string_view name) const override {
    const auto schema = catalog_.schema();
    const Field* field = schema->Find(name);
    return field != nullptr && field->filterable();
  }
  std::shared_ptr<const ItemSet> Passing(const std::string& filter) const override {
    const auto compiled = catalog_.CompileFilter(filter);
    if (!compiled.ok()) return nullptr;
    return conditions_ == Conditions::kRead ? std::make_shared<const ItemSet>()
                                            : catalog_.Evaluate(**compiled);
  }

 private:
  const IndexedFields& searched_;
  const Catalog& catalog_;
  const Conditions conditions_;
};

}  // namespace waymark
