#include "training/retriever/validation_items.h"

#include <numeric>

namespace waymark {

ValidationItems::ValidationItems(const DenseWeights* dense, const RetrieverCorpus* corpus, StepTable* ids,
                                 StepTable* buckets, int64_t content_buckets)
    : dense_(dense),
      corpus_(corpus),
      ids_(ids),
      buckets_(buckets),
      content_(&corpus->content, content_buckets) {}

at::Tensor ValidationItems::VectorsOf(absl::Span<const int64_t> items) {
  std::vector<int64_t> rows, id_places, bucket_places, all(items.size());
  for (int64_t item : items) rows.push_back(corpus_->IdRow(item));
  std::iota(all.begin(), all.end(), 0);
  content_.Collect(items);
  ItemTables tables = {ids_->Rows(rows, &id_places), at::empty({0, dense_->projection.size(0)}, at::kFloat)};
  if (content_.any()) tables.buckets = buckets_->Rows(content_.rows(), &bucket_places);
  at::Tensor vectors, pooled;
  EncodeItems(*dense_, tables, content_.PlacesIn(bucket_places), id_places, all, &vectors, &pooled);
  return vectors;
}

OwnValidationItems::OwnValidationItems(const DenseWeights* dense, const ItemTables& tables,
                                       const RetrieverCorpus* corpus)
    : ids_(tables.id, tables.id, tables.id),
      buckets_(tables.buckets, tables.buckets, tables.buckets),
      items_(dense, corpus, &ids_, &buckets_, tables.buckets.size(0)) {}

}  // namespace waymark
