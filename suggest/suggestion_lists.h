// The lists of one collection: the titles and the values of each field, with their weights as they were when
// the lists were made.
//
// An item weighs its popularity (decayed count of its events) and 2^(-age / 30 days) more, so that what is
// new goes before what nobody has looked at. A title weighs as much as its heaviest item; a value the sum
// over its items of 1 + their weight.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "store/clock.h"
#include "store/store.h"
#include "suggest/completion_list.h"
#include "suggest/suggestion_fields.h"

namespace waymark {

struct FieldList {
  std::string field;
  std::shared_ptr<const CompletionList> list;
};

struct SuggestionLists {
  LogOffset position = 0;  // items as the log has them here, or later
  SuggestedFields fields;
  std::vector<FieldList> titles, values;

  size_t entries() const;
  size_t memory_bytes() const;
};

// The popularity of each item, 0 or more. out: [items].
using ItemPopularity =
    std::function<void(absl::Span<const ItemOrdinal> items, absl::Time now, absl::Span<float> out)>;

struct ListParts {
  const Store* store = nullptr;
  Scope scope;
  const Catalog* catalog = nullptr;
  ItemPopularity popularity;  // null: all are alike
  const Clock* clock = Clock::Real();
};

using Stop = absl::FunctionRef<bool()>;

// All items, from the store. Null: `stop` said so.
absl::StatusOr<std::shared_ptr<const SuggestionLists>> MakeLists(const ListParts& parts,
                                                                 const SuggestedFields& fields, Stop stop);
// Of these items only.
absl::StatusOr<std::shared_ptr<const SuggestionLists>> MakeListsOf(const ListParts& parts,
                                                                   const SuggestedFields& fields,
                                                                   const std::vector<ItemOrdinal>& items);
// Of `before` without the `changed` items, and of `newer`, which has those; all with the weights of now.
// Nothing is read from the store. Null: `stop` said so.
std::shared_ptr<const SuggestionLists> MergeLists(const ListParts& parts, const SuggestionLists& before,
                                                  const SuggestionLists& newer,
                                                  const absl::flat_hash_set<ItemOrdinal>& changed, Stop stop);

}  // namespace waymark
