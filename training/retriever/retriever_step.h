// One step of training: the items that a batch needs, their vectors, the parts of the batch side by side,
// the sum of their gradients, clipping, Adam. The same result for any number of threads.
//
//   RetrieverStep step(&model, &corpus, options, &pool);
//   double loss = step.Run(batch, {epoch, number}, learning_rate);
//
// Includes LibTorch: for training/ only.
#pragma once
#include <memory>
#include <vector>

#include "recommend/network/encoder.h"
#include "training/retriever/cosine_softmax.h"
#include "training/retriever/retriever_model.h"
#include "training/retriever/window_batches.h"
#include "training/shard_pool.h"

namespace waymark {

class RetrieverStep {
 public:
  RetrieverStep(RetrieverModel* model, const RetrieverCorpus* corpus, const RetrieverOptions& options,
                ShardPool* pool);
  // `number`: of the step since training began, from 1. Returns the mean loss of the batch's tokens.
  double Run(const TrainingBatch& batch, int64_t number, double learning_rate);

 private:
  struct Shard {
    explicit Shard(const RetrieverShape& shape) : layout(shape.time_buckets), gradients(shape) {}
    SequenceLayout layout;
    std::vector<int32_t> inputs, targets;  // [tokens]: places in items_
    DenseWeights gradients;
    at::Tensor tokens, states, dstates, dtokens;
    at::Tensor dvectors, dunits;  // [items_, width]
    EncoderWorkspace workspace;
    SoftmaxScratch softmax;
    double loss = 0;
  };

  void CollectItems(const TrainingBatch& batch, int64_t number);
  int32_t Place(int64_t row);
  void RunShard(Shard* shard, uint64_t key, double scale);
  void ReduceAndUpdate(const AdamStep& step);

  RetrieverModel* model_;
  const RetrieverCorpus* corpus_;
  RetrieverOptions options_;
  ShardPool* pool_;
  Encoder encoder_;
  std::vector<std::unique_ptr<Shard>> shards_;
  // The step's items: their rows, in the order of first use, those contrasted with first.
  std::vector<int64_t> items_;
  int64_t contrasted_ = 0;
  std::vector<int64_t> id_rows_;   // [items_]: the row, or kNoRow where the id is dropped
  std::vector<int32_t> place_of_;  // [vocabulary]: place in items_, or -1
  at::Tensor vectors_, units_, pooled_;
  std::vector<float> inverse_;
  std::vector<float> bucket_gradients_;  // [content_buckets, content_width]; zero between steps
  std::vector<int64_t> touched_buckets_;
};

}  // namespace waymark
