// How well a retriever predicts the first held-out event of each user: the whole vocabulary is ranked, items
// of the history are masked, ties get the middle rank, a target outside the vocabulary counts as missed.
// Includes LibTorch: for training/ only.
#pragma once
#include <vector>

#include "recommend/network/sequence_layout.h"
#include "training/retriever/retriever_model.h"
#include "training/shard_pool.h"

namespace waymark {

struct RetrieverValidation {
  double ndcg10 = 0, hit10 = 0;
  size_t users = 0;
};

RetrieverValidation ValidateRetriever(const RetrieverModel& model, const RetrieverCorpus& corpus,
                                      size_t most_users, ShardPool* pool);
// The same on the named users, which have targets. tables: of all ranks, and corpus.id_rows of them.
RetrieverValidation ValidateOn(const RetrieverShape& shape, const DenseWeights& dense,
                               const ItemTables& tables, const RetrieverCorpus& corpus,
                               absl::Span<const size_t> users, ShardPool* pool);

// The newest events of the users' histories, one sequence each, oldest first: rows of the vocabulary.
std::vector<int64_t> LayOut(absl::Span<const size_t> users, const RetrieverCorpus& corpus,
                            const RetrieverShape& shape, SequenceLayout* layout);

// Ranks of the users' targets among all items. Thread-safe.
class HeldOutRanks {
 public:
  // tables: of all ranks. The corpus must outlive it.
  HeldOutRanks(const DenseWeights& dense, const ItemTables& tables, const RetrieverCorpus& corpus);
  // rows: of the vocabulary -> [rows, width]
  at::Tensor VectorsOf(const std::vector<int64_t>& rows) const;
  // states: [users, width]; ranks: [users], infinite where the target is no item.
  void Rank(absl::Span<const size_t> users, const at::Tensor& states, double* ranks) const;

 private:
  const RetrieverCorpus& corpus_;
  at::Tensor vectors_, units_;
};

}  // namespace waymark
