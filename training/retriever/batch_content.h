// The content rows that some items use, each once, in ascending order, and which of them each item has: so
// that rows may lie elsewhere (step_table.h), and a batch's memory does not grow with the table.
//
//   BatchContent content(&corpus.content, shape.content_buckets);
//   content.Collect(items);
//   at::Tensor found = table->Rows(content.rows(), &places);
//   EncodeItems(dense, {ids, found}, content.PlacesIn(places), id_places, AllOf(items), &vectors, &pooled);
//
// One thread. Includes LibTorch: for training/ only.
#pragma once
#include <vector>

#include "recommend/network/item_encoder.h"
#include "training/retriever/distinct_rows.h"

namespace waymark {

class BatchContent {
 public:
  // content: of all items, which it borrows; buckets: rows of the table.
  BatchContent(const ContentBuckets* content, int64_t buckets)
      : content_(content), any_(!content->buckets.empty()), touched_(any_ ? buckets : 0) {}
  // Whether any item of all has content; if not, nobody needs the table.
  bool any() const { return any_; }
  void Collect(absl::Span<const int64_t> items);
  const std::vector<int64_t>& rows() const { return touched_.rows(); }
  // Of item i of those that were collected: places in rows().
  absl::Span<const uint32_t> Of(size_t i) const { return of_items_.Of(i); }
  // The same with places[p] in the place of p. Valid until the next call.
  const ContentBuckets& PlacesIn(const std::vector<int64_t>& places);

 private:
  const ContentBuckets* content_;
  bool any_;
  DistinctRows touched_;
  ContentBuckets of_items_, found_;
};

}  // namespace waymark
