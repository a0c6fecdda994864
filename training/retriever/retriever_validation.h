// How well a retriever predicts the first held-out event of each user: the whole vocabulary is ranked, items
// of the history are masked, ties get the middle rank, a target outside the vocabulary counts as missed.
// Includes LibTorch: for training/ only.
#pragma once
#include "training/retriever/retriever_model.h"
#include "training/shard_pool.h"

namespace waymark {

struct RetrieverValidation {
  double ndcg10 = 0, hit10 = 0;
  size_t users = 0;
};

RetrieverValidation ValidateRetriever(const RetrieverModel& model, const RetrieverCorpus& corpus,
                                      size_t most_users, ShardPool* pool);
// The same on the named users, which have targets. tables: all items.
RetrieverValidation ValidateOn(const RetrieverShape& shape, const DenseWeights& dense,
                               const ItemTables& tables, const RetrieverCorpus& corpus,
                               absl::Span<const size_t> users, ShardPool* pool);

}  // namespace waymark
