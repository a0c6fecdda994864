// A SortOrder bound to columns: which of two items comes first.
//
// Lives no longer than the columns; not thread-safe beside changes to them. For catalog/ alone.
#pragma once
#include <vector>

#include "catalog/item_columns.h"
#include "catalog/scored_item.h"
#include "catalog/sort_order.h"

namespace waymark {

class ItemOrder {
 public:
  // An item with its first key, by which most comparisons are decided.
  struct Entry {
    ItemOrdinal item = kNoItem;
    float score = 0;
    double number = 0;    // less comes first
    TermNumber term = 0;  // of a KEYWORD key
  };

  ItemOrder(const SortOrder& order, const ItemColumns& columns);
  Entry Make(const ScoredItem& item) const;
  // By the keys, then by score, the greatest first, then by ordinal.
  bool Before(const Entry& a, const Entry& b) const;

 private:
  struct Key {
    const NumberColumn* numbers = nullptr;  // at most one of the three; none: no item has a value (any more)
    const KeywordColumn* keywords = nullptr;
    const GeoColumn* points = nullptr;
    bool descending = false;
    GeoPoint from;
  };
  void Read(const Key& key, Entry* entry) const;
  // Negative: `a` comes first.
  int Compare(const Key& key, const Entry& a, const Entry& b) const;

  std::vector<Key> keys_;
};

}  // namespace waymark
