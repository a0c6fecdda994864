// The numbers of one field (INTEGER, FLOATING, TIME in microseconds, BOOLEAN as 0 and 1), by item ordinal:
// dense, changed in place, with an index by value.
//
//   column.Set(7, {1995});
//   Bitmap nineties = column.Within(1990, 1999);
//
// Not thread-safe: the catalog's lock guards it. For catalog/ alone.
#pragma once
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "catalog/column_bytes.h"
#include "catalog/item_set_impl.h"
#include "catalog/value_index.h"

namespace waymark {

class NumberColumn {
 public:
  // Replaces the item's values (finite); empty: it has none.
  void Set(ItemOrdinal item, absl::Span<const double> values);

  // The item's first value; NaN.
  double First(ItemOrdinal item) const;
  // All values of the item, in its order.
  template <class Visit>
  void ForEachValue(ItemOrdinal item, const Visit& visit) const {
    if (!(item < first_.size()) || first_[item] != first_[item]) return;  // NaN: none
    visit(first_[item]);
    if (others_.empty()) return;
    const auto found = others_.find(item);
    if (found == others_.end()) return;
    for (const double value : found->second) visit(value);
  }
  // Whether any value of the item lies in [lowest, highest].
  bool AnyWithin(ItemOrdinal item, double lowest, double highest) const;

  const Bitmap& present() const { return present_; }
  // Items with any value in [lowest, highest]: from the index where they are few, by a scan otherwise.
  Bitmap Within(double lowest, double highest) const;
  // About how many those are; no more than a little above `limit` is told apart.
  size_t CountWithin(double lowest, double highest, size_t limit) const {
    return index_.Count(lowest, highest, limit);
  }
  // What Within may cost, in values looked at.
  size_t ScanCost() const { return first_.size(); }
  // Whether there are values, and all lie there.
  bool AllWithin(double lowest, double highest) const {
    return !index_.empty() && index_.smallest() >= lowest && index_.largest() <= highest;
  }

  // Whether the index holds what the column holds, and nothing else.
  bool IndexAgrees() const;
  size_t memory_bytes() const;  // about

  void Write(ByteWriter* out) const;
  // False: the bytes are not a column's. `end`: one more than the largest ordinal that may be named.
  bool Read(ByteReader* in, size_t end);

 private:
  Bitmap Scan(double lowest, double highest) const;

  std::vector<double> first_;                                     // [ordinal]; NaN: none
  absl::flat_hash_map<ItemOrdinal, std::vector<double>> others_;  // values after the first, of arrays
  Bitmap present_;
  ValueIndex index_;
};

}  // namespace waymark
