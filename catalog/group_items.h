// Groups of items that hold the same value of a field, for showing the best of each.
//
//   auto field = FindGroupField(schema, "brand", "group_by.field");
//   auto best = GroupItems(*catalog, {.field = *field, .per_group = 3, .limit = 500}, order, allowed.get(),
//   &matches, expired);
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "catalog/catalog.h"
#include "catalog/scored_item.h"
#include "catalog/sort_order.h"

namespace waymark {

// KEYWORD, INTEGER and BOOLEAN fields group; of arrays the first value does. INVALID_ARGUMENT begins with
// `place`.
absl::StatusOr<Field> FindGroupField(const Schema& schema, std::string_view name, std::string_view place);

struct GroupQuery {
  Field field;
  size_t per_group = 1;
  size_t limit = 0;  // items in all
};

// The best `per_group` items of each group, by `order` (without keys: by score), until `limit` items are
// reached; whole groups, in the order of their best items. Items without the field are groups of their own.
// Exact over all matches, in two passes, with memory for `limit` groups. The rest as SortItems.
absl::StatusOr<std::vector<ScoredItem>> GroupItems(const Catalog& catalog, const GroupQuery& query,
                                                   const SortOrder& order, const ItemSet* allowed,
                                                   const std::vector<ScoredItem>* matches,
                                                   absl::FunctionRef<bool()> expired);

// What items are grouped under: equal keys are one group.
struct GroupOfItem {
  uint64_t key = 0;
  std::optional<std::string> value;  // none: the item lacks the field
};
// One for each item. Thread-safe.
std::vector<GroupOfItem> ReadGroups(const Catalog& catalog, const Field& field,
                                    absl::Span<const ItemOrdinal> items);

}  // namespace waymark
