// The loop of one rank that trains a ranker on shards of lists: epochs and steps, validation, and the package
// at its end (ranker_rank_result.cc). Model, step and optimizer are those of `waymark train`
// (training/ranker/).
//
// Throws ExchangeError and what LibTorch throws. Includes LibTorch: for training/ only.
#pragma once
#include <chrono>
#include <memory>
#include <vector>

#include "training/distributed/group_ranker_ranks.h"
#include "training/distributed/list_stream.h"
#include "training/distributed/rank_checkpoints.h"
#include "training/distributed/rank_group.h"
#include "training/distributed/train_job.h"
#include "training/ranker/ranker_model.h"
#include "training/ranker/ranker_options.h"

namespace waymark {

struct RankerTrainerInput {
  RankGroup* group;
  const storage::ListsIndex* index;
  const ListReader* reader;
  const JobOptions* job;
  RankerTrainerOptions options;
  int parts;
  std::string fingerprint;
};

class RankerRankTrainer {
 public:
  RankerRankTrainer(const RankerTrainerInput& input, const std::vector<RankerItems::Known>& items);

  // From a checkpoint, where there is one.
  absl::Status Prepare();
  // CANCELLED: a stop was asked for on some rank.
  absl::Status Train(const std::stop_token& stop);
  // The package, written by the first rank; the others wait for it.
  absl::Status Write(JobResult* result);
  void Report(JobResult* result);

 private:
  // What this rank has of a batch.
  struct OwnBatch {
    std::vector<RankerBatch> shards;
    std::vector<uint64_t> parts;  // of the shards: those that have lists
    int64_t lists = 0;            // of the whole batch
  };
  std::vector<CheckpointTensor> CheckpointTensors();
  absl::Status TakeBatch(OwnBatch* batch);
  absl::Status TrainEpoch(const std::stop_token& stop);
  absl::Status FinishEpoch();
  absl::Status Validate();
  absl::Status NotFinite(double loss, const OwnBatch& batch);
  absl::Status SaveNow();
  absl::Status Save();
  absl::Status Stopped();
  // Lists of all parts in the epoch's batches before `batch`.
  int64_t ListsBefore(int64_t batch) const;
  double MeanLoss() const;
  double Elapsed() const;
  double Done() const;
  void ReportProgress(double step_loss, bool epoch_finished);

  RankerTrainerInput in_;
  const JobOptions& job_;
  RankGroup* group_;
  bool share_rows_;
  std::vector<uint64_t> own_;  // parts
  RankerItems items_;
  RankerConfig config_;
  RankerModel model_;
  ShardPool pool_;
  std::unique_ptr<GroupRankerRanks> ranks_;  // of more than one
  std::vector<RankerBatcher> batchers_;      // [own_]
  std::vector<ListStream> streams_;          // [own_]
  std::vector<RankingLists> batch_lists_;    // [own_]
  std::vector<PartOrder> orders_;            // [parts], of the epoch
  int64_t batches_;
  std::vector<RankerTensor> trained_, moments_;
  std::vector<at::Tensor> best_;  // [trained_]; undefined: none yet
  TrainingPlace place_;
  RankCheckpoints checkpoints_;
  double learning_rate_ = 0, wait_s_ = 0, data_s_ = 0, data_cpu_s_ = 0, validation_s_ = 0,
         elapsed_before_ = 0;
  int64_t steps_here_ = 0, lists_here_ = 0;
  bool resumed_ = false, ended_early_ = false;
  std::chrono::steady_clock::time_point start_, last_progress_;
};

}  // namespace waymark
