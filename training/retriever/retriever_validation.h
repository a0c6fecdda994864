// How well a retriever predicts the first held-out event of each user: the whole vocabulary is ranked, items
// of the history are masked, ties get the middle rank, a target outside the vocabulary counts as missed.
//
// Users and items go by some at a time, so that neither all vectors of a large catalogue nor whole tables are
// in memory at once. Includes LibTorch: for training/ only.
#pragma once
#include <vector>

#include "recommend/network/sequence_layout.h"
#include "training/retriever/retriever_model.h"
#include "training/retriever/validation_items.h"
#include "training/shard_pool.h"

namespace waymark {

// How many at a time, at most.
struct ValidationSizes {
  int64_t items = 4096;             // vectors; up to the next multiple of 64
  size_t users = 64;                // of a thread, through the encoder and for scores of `items`
  size_t users_of_block = 1 << 15;  // states; items go by once for each block
};

struct RetrieverValidation {
  double ndcg10 = 0, hit10 = 0;
  size_t users = 0;
};

RetrieverValidation ValidateRetriever(const RetrieverModel& model, const RetrieverCorpus& corpus,
                                      size_t most_users, ShardPool* pool);
// The same on the named users, which have targets.
RetrieverValidation ValidateOn(const RetrieverShape& shape, const DenseWeights& dense, ValidationItems* items,
                               const RetrieverCorpus& corpus, absl::Span<const size_t> users, ShardPool* pool,
                               const ValidationSizes& sizes = {});

// The newest events of the users' histories, one sequence each, oldest first: items of the vocabulary.
std::vector<int64_t> LayOut(absl::Span<const size_t> users, const RetrieverCorpus& corpus,
                            const RetrieverShape& shape, SequenceLayout* layout);
// Their vectors: [items, width]. Each different one is asked for once.
at::Tensor TokensOf(absl::Span<const int64_t> items, ValidationItems* source);

// Ranks of the users' targets among all items, as far as they decide about the best ten: exact up to 10, else
// some number over it; infinite where the target is no item. states: [users, width]. Where tables are spread
// over ranks, called on all of them as often.
std::vector<double> RankHeldOut(absl::Span<const size_t> users, const at::Tensor& states,
                                const RetrieverCorpus& corpus, ValidationItems* source, ShardPool* pool,
                                const ValidationSizes& sizes);

}  // namespace waymark
