// What the rules that hold for a request come to: which item stands where, what is not shown, whose score is
// multiplied. Where rules contradict each other the one that counts first decides (docs/curation.md).
//
//   Curated curated = Curate(rules, {store, scope, catalog, filter, excluded});
//
// Thread-safe.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "curation/rule_set.h"
#include "pipeline/request.h"
#include "store/store.h"

namespace waymark {

struct CuratedPin {
  ItemOrdinal item = kNoItem;
  size_t place = 0;  // from 0
};
struct CuratedBoost {
  std::shared_ptr<const ItemSet> items;
  double factor = 1;
};

struct Curated {
  std::vector<std::string> rules;  // ids, in the order in which they count
  std::string redirect_uri, replacement_query;
  // Each item once, in the order in which they choose their places. They live, and pass the request's filter
  // and the rules'.
  std::vector<CuratedPin> pins;
  std::vector<CuratedBoost> boosts;
  // Live items that rules neither hide nor filter out; null: all.
  std::shared_ptr<const ItemSet> allowed;
  std::vector<Degraded> degraded;  // rules whose filters the schema does not take any more
};

struct CurationBase {
  const Store* store = nullptr;
  Scope scope;
  const Catalog* catalog = nullptr;
  const Filter* filter = nullptr;  // of the request; null: none
  const std::vector<ItemOrdinal>* excluded =
      nullptr;  // sorted: what the request does not show, as seen items
};

Curated Curate(const RuleSet::Rules& rules, const CurationBase& base);

// The factor of each item: the product of all that speak of it.
std::vector<double> FactorsOf(absl::Span<const ItemOrdinal> items, absl::Span<const CuratedBoost> boosts);

}  // namespace waymark
