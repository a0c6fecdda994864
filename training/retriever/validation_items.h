// Vectors of items as validation asks for them: some at a time, from tables whose rows may lie over ranks.
// Includes LibTorch: for training/ only.
#pragma once
#include <vector>

#include "training/retriever/batch_content.h"
#include "training/retriever/retriever_corpus.h"
#include "training/retriever/step_table.h"

namespace waymark {

class ValidationItems {
 public:
  // ids, buckets: as a step sees them. All of these must outlive it.
  ValidationItems(const DenseWeights* dense, const RetrieverCorpus* corpus, StepTable* ids,
                  StepTable* buckets, int64_t content_buckets);
  virtual ~ValidationItems() = default;
  // [items, width], not of unit length. Where tables are spread, called on all of their ranks as often.
  at::Tensor VectorsOf(absl::Span<const int64_t> items);
  // The largest of what those ranks say, of which some have fewer users.
  virtual int64_t MostOfRanks(int64_t own) { return own; }

 private:
  const DenseWeights* dense_;
  const RetrieverCorpus* corpus_;
  StepTable* ids_;
  StepTable* buckets_;
  BatchContent content_;
};

// From tables that this process has all of.
class OwnValidationItems {
 public:
  OwnValidationItems(const DenseWeights* dense, const ItemTables& tables, const RetrieverCorpus* corpus);
  ValidationItems* get() { return &items_; }

 private:
  WholeTable ids_, buckets_;
  ValidationItems items_;
};

}  // namespace waymark
