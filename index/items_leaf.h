// A condition of a query on a field that is filtered: documents of the items that fulfil it, which score
// nothing by it.
//
// Not thread-safe: leaves belong to one search.
#pragma once
#include "catalog/item_set.h"
#include "index/query_leaf.h"

namespace waymark {

class ItemsLeaf : public QueryLeaf {
 public:
  // Both outlive it.
  ItemsLeaf(const SegmentView& segment, const ItemSet& items) : segment_(segment), items_(items) {}
  DocNumber NextAtLeast(DocNumber doc) override {
    return doc < segment_.postings->doc_count() ? doc : kNoDoc;
  }
  size_t Collect(Window* window, WindowBits* bits) override;

 private:
  const SegmentView& segment_;
  const ItemSet& items_;
};

}  // namespace waymark
