// One step of training: the items that a batch needs, their vectors, the parts of the batch side by side,
// the sum of their gradients, clipping, Adam. The same result for any number of threads.
//
//   RetrieverStep step(&model, &corpus, options, &pool);
//   double loss = step.Run(batch, number, learning_rate);
//
// Over ranks (step_ranks.h) each has the parts of the batch that are its own, and the gradient of a block is
// added up over ranks while the blocks below it are still at work. Where several processes hold one model
// (ModelPeers), each has its slice: items are the first stage's, the loss is the last's.
//
// Includes LibTorch: for training/ only.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "recommend/network/encoder.h"
#include "training/precision.h"
#include "training/retriever/batch_content.h"
#include "training/retriever/cosine_softmax.h"
#include "training/retriever/distinct_rows.h"
#include "training/retriever/retriever_model.h"
#include "training/retriever/step_ranks.h"
#include "training/retriever/step_table.h"
#include "training/retriever/step_times.h"
#include "training/retriever/window_batches.h"
#include "training/shard_pool.h"

namespace waymark {

struct StepSetting {
  ModelPeers* peers = nullptr;  // null: this process has the whole model. With them: one_sum, and ranks.
  // All parts add into one gradient, one part after the other (the pool has one thread): memory of one
  // gradient instead of one a part, and sums in another order.
  bool one_sum = false;
  bool recompute = false;  // EncoderOptions::recompute
  // Micro-batches of a part, one after the other with the same buffers: activations of one at a time. The
  // result is that of one pass, but for rounding. Not with stages.
  int accumulate = 1;
  TrainingPrecision precision = TrainingPrecision::kFp32;
};

class RetrieverStep {
 public:
  // options.shards: parts of this process. `ranks` may be null: one process.
  RetrieverStep(RetrieverModel* model, const RetrieverCorpus* corpus, const RetrieverOptions& options,
                ShardPool* pool, StepRanks* ranks = nullptr, const StepSetting& setting = {});
  // `number`: of the step since training began, from 1. Returns the mean loss of the batch's tokens.
  double Run(const TrainingBatch& batch, int64_t number, double learning_rate);
  // What part s of this process added to the loss of the last step.
  double part_loss(size_t s) const { return shards_[s]->loss; }
  // Of all steps so far.
  const StepTimes& times() const { return times_; }

 private:
  static constexpr uint64_t kDropoutOfParts = 13;  // beside those of StepRandom

  // What parts add up.
  struct PartSums {
    explicit PartSums(const RetrieverModel& model) : gradients(model.shape, model.share.encoder) {}
    DenseWeights gradients;
    at::Tensor dvectors, dunits;  // [items_, width]
  };
  // Windows of a part that go through the encoder at once.
  struct Micro {
    explicit Micro(const RetrieverShape& shape) : layout(shape.time_buckets) {}
    SequenceLayout layout;
    std::vector<int32_t> inputs, targets;  // [tokens]: places in items_
    uint64_t first_token = 0;              // among those of the part
  };
  struct Shard {
    Shard(const RetrieverShape& shape, int accumulate)
        : micros(static_cast<size_t>(accumulate), Micro(shape)) {}
    std::vector<Micro> micros;
    PartSums* sums = nullptr;
    EncoderWorkspace* workspace = nullptr;
    at::Tensor tokens, states, dstates, dtokens;
    SoftmaxScratch softmax;
    double loss = 0, forward_s = 0, backward_s = 0, cpu_s = 0;
  };

  void CollectItems(const TrainingBatch& batch, int64_t number);
  // The place of an item among the step's. Those of which nothing is known, neither id nor content, are one.
  int32_t PlaceOf(int64_t item);
  void EncodeStepItems();
  void RunParts(const TrainingBatch& batch, int64_t number);
  void ZeroSums(PartSums* sums);
  void ForwardPart(Shard* shard, const Micro& micro, uint64_t key, double scale);
  // last: of the part, whose blocks' gradients are then done.
  void BackwardPart(Shard* shard, const Micro& micro, uint64_t key, bool last);
  void BlockDone(int block);
  void AddUpDense(int64_t first, int64_t last);
  // Adds up the parts; fills kept_ids_ and bucket_gradients_.
  void AddUpShards();
  void AddUpItems(PartSums* sum);
  // Of the encoder's gradient, over all processes that hold a part of it, and of the tables'.
  double SquaredNormOf(const DenseWeights& gradient, double tables);
  void Update(AdamStep step);

  RetrieverModel* model_;
  const RetrieverCorpus* corpus_;
  RetrieverOptions options_;
  ShardPool* pool_;
  StepSetting setting_;
  bool first_, last_;                     // of the stages
  std::optional<Bf16Matrices> matrices_;  // in mixed precision
  Encoder encoder_;
  std::vector<std::unique_ptr<PartSums>> sums_;
  std::vector<std::unique_ptr<EncoderWorkspace>> workspaces_;
  std::vector<std::unique_ptr<Shard>> shards_;
  // The step's items: their numbers, in the order of first use, those contrasted with first.
  DistinctRows items_;
  int32_t place_of_unknown_ = -1;  // -1: none yet
  int64_t contrasted_ = 0;
  std::vector<int64_t> id_rows_;  // [items_]: the row, or kNoRow where there is none or it is dropped
  at::Tensor vectors_, units_, pooled_;
  std::vector<int64_t> id_places_;  // [items_]: of id_rows_ in what the table has given
  std::vector<float> inverse_;
  std::vector<int64_t> kept_ids_;  // [.., width]: their gradients are the first of sums_[0]->dvectors
  int64_t shared_ids_ = 0;         // the first so many are contrasted with, and the same on every rank
  StepRanks* ranks_;
  std::unique_ptr<WholeTable> whole_ids_, whole_buckets_;  // without ranks
  StepTable* ids_;
  StepTable* buckets_;
  std::vector<int64_t> block_starts_;         // [blocks + 1]: floats of the flat gradient
  std::vector<std::atomic<int>> parts_left_;  // [blocks]
  StepTimes times_;
  BatchContent content_;                 // of items_, on the first stage
  std::vector<float> bucket_gradients_;  // [rows of content_, content_width]
};

}  // namespace waymark
