// The ranker in training: the network, its large tables, the optimizer's state, and one step.
#pragma once
#include <torch/torch.h>

#include "absl/status/status.h"
#include "rank/network/ranker_network.h"
#include "store/package/safetensors.h"
#include "training/precision.h"
#include "training/ranker/ranker_batch.h"
#include "training/ranker/ranker_ranks.h"
#include "training/ranker/row_table.h"
#include "training/retriever/step_times.h"
#include "training/shard_pool.h"

namespace waymark {

struct RankerNoiseOptions {
  double hidden = 0.1, joined = 0.1;
  double id = 0.3;  // share of items whose id row is left out of a step, so that content stands alone
};

// Which parts of a batch a rank works on, and with whom.
struct RankerShare {
  std::vector<uint64_t> parts;   // of the shards, in their order; empty: 0, 1, ...
  int64_t lists = 0;             // of the whole batch; 0: those of the shards
  RankerRanks* ranks = nullptr;  // null: nobody else works on it
};

// A tensor of the model, sharing its memory.
struct RankerTensor {
  std::string name;
  at::Tensor tensor;
  std::vector<int64_t> shape;  // of the whole, of which a table's tensor may be a share
  bool table = false;
};

class RankerModel {
 public:
  // precision: of the passes of steps; scores are fp32's. rows: of the tables that this process holds; the
  // others are other ranks', whom Step and ScoreSpread then ask. Every number begins with the same value
  // whatever the share.
  RankerModel(const RankerConfig& config, uint64_t seed,
              TrainingPrecision precision = TrainingPrecision::kFp32, RowShare rows = {});

  // [lists, candidates], -1e9 where padded.
  torch::Tensor Score(const RankerBatch& batch) const;
  // The same of some batches side by side, where the tables are spread over ranks. Called on all of them,
  // each with its own batches.
  std::vector<torch::Tensor> ScoreSpread(absl::Span<const RankerBatch> batches, RankerRanks* ranks,
                                         ShardPool* pool) const;
  // Softmax cross-entropy over each list. `shards`: the parts of the step's batch, worked on side by side;
  // `step` counts from 1; `seed` makes all dropout. Answers the mean loss of the lists, which like the
  // weights does not depend on the pool's threads.
  double Step(absl::Span<const RankerBatch> shards, const AdamWOptions& options, int64_t step,
              const RankerNoiseOptions& noise, uint64_t seed, ShardPool* pool, const RankerShare& share = {});
  // What shard s added to the loss of the last step.
  double part_loss(size_t s) const { return replicas_[s].loss; }
  // Of all steps so far.
  const StepTimes& times() const { return times_; }

  RankerNetwork& network() { return network_; }
  const RankerConfig& config() const { return config_; }
  // What a package holds; of spread tables this process's share, which ReadWeights does not take.
  TensorMap Weights() const;
  absl::Status ReadWeights(const TensorMap& tensors);
  // What is trained, and its moments (`:m`, `:v`), without empty tables. They stay where they are.
  std::vector<RankerTensor> Trained() const;
  std::vector<RankerTensor> Moments() const;
  // All of it, with the optimizer's moments, for a checkpoint; names begin with `prefix`.
  void AppendState(const std::string& prefix, TensorMap* tensors) const;
  absl::Status ReadState(const std::string& prefix, const TensorMap& tensors);

 private:
  struct Leaves {
    torch::Tensor ids, content, words;
  };
  // A shard's own view of the network: the same weights, gradients of its own.
  struct Replica {
    RankerNetwork network;
    Leaves leaves;
    double loss = 0, forward_s = 0, backward_s = 0, cpu_s = 0;
  };
  Leaves Gather(const RankerBatch& batch) const;
  // The same of each of some batches, with rows that other ranks hold.
  std::vector<Leaves> FetchLeaves(absl::Span<const RankerBatch> batches, RankerRanks* ranks) const;
  bool spread() const { return rows_.stride > 1; }
  torch::Tensor Forward(const RankerNetwork& network, const RankerBatch& batch, const Leaves& leaves,
                        double id_dropout, const RankerNoise* noise) const;
  void MakeReplicas(size_t count);
  void RunReplica(Replica* replica, const RankerBatch& batch, const RankerNoiseOptions& noise, uint64_t seed,
                  double lists);
  RankerGradients GradientsOf(absl::Span<const RankerBatch> shards) const;
  void UpdateNetwork(const AdamWOptions& options, int64_t step, const RankerGradients& gradients);

  RankerConfig config_;
  TrainingPrecision precision_;
  RowShare rows_;
  at::Generator init_;
  RankerNetwork network_;
  RowTable ids_, content_, words_;
  static constexpr const char* kTableNames[] = {"item_vectors", "content_vectors", "query_vectors"};
  std::vector<torch::Tensor> m_, v_;  // of the network's parameters
  std::vector<Replica> replicas_;
  StepTimes times_;
};

}  // namespace waymark
