// The loop of one rank: epochs and steps, validation, and the package at its end (rank_result.cc). What it
// trains with is the retriever's own step and model (training/retriever/).
//
// Throws ExchangeError and what LibTorch throws. Includes LibTorch: for training/ only.
#pragma once
#include <chrono>
#include <memory>

#include "training/distributed/epoch_loader.h"
#include "training/distributed/group_step_ranks.h"
#include "training/distributed/mesh/mesh_peers.h"
#include "training/distributed/rank_checkpoints.h"
#include "training/distributed/rank_vocabulary.h"
#include "training/distributed/train_job.h"
#include "training/retriever/retriever_step.h"
#include "training/retriever/retriever_validation.h"

namespace waymark {

struct RankTrainerInput {
  const RankMesh* mesh;
  const storage::ExamplesIndex* index;
  const ShardReader* reader;
  const JobOptions* job;
  RetrieverOptions options;
  VocabularyPolicy vocabulary;
  int parts;
  std::string fingerprint;
};

class RankTrainer {
 public:
  // items: in the order of the index's rows.
  RankTrainer(const RankTrainerInput& input, const std::vector<ItemRecord>& items);

  // From a package or a checkpoint, where there is one.
  absl::Status Prepare();
  // CANCELLED: a stop was asked for on some rank.
  absl::Status Train(std::stop_token stop);
  // The package, written by the first rank; the others wait for it.
  absl::Status Write(JobResult* result);
  void Report(JobResult* result);

 private:
  absl::Status TakeEpoch();
  absl::Status CheckVocabulary();
  absl::Status TrainEpoch(const std::stop_token& stop);
  void FinishEpoch();
  RetrieverValidation Validate();
  absl::Status Save();     // begins a checkpoint
  absl::Status SaveNow();  // and waits for it
  absl::Status Stopped();
  TrainingBatch BatchAt(int64_t b) const;
  // For the package, on the first rank: the model's own tables, or what the shares of all ranks make
  // together. On all ranks.
  void GatherTables(TensorMap* tensors);
  StepTimes Times() const;
  double Elapsed() const;
  double Done() const;
  void ReportProgress(double step_loss, bool epoch_finished);

  RankTrainerInput in_;
  const JobOptions& job_;
  const RankMesh& mesh_;
  RankGroup* group_;           // all ranks
  RankGroup* data_;            // those that see other data and hold the same of the model
  std::vector<uint64_t> own_;  // parts
  bool share_rows_;
  RetrieverCorpus corpus_;  // what this rank has of the epoch, and all items
  EpochData epoch_;
  std::vector<int64_t> batch_tokens_;  // [batches], on all ranks
  int64_t batches_;
  ShardPool pool_;
  std::unique_ptr<RankVocabulary> vocabulary_;  // where not every item has a row
  RetrieverModel model_;
  std::unique_ptr<MeshPeers> peers_;       // where a copy of the model is on several ranks
  std::unique_ptr<GroupStepRanks> ranks_;  // of more than one
  RetrieverStep step_;
  EpochLoader loader_;
  TrainingPlace place_;
  BestWeights best_;
  RankCheckpoints checkpoints_;
  TrainingBatch batch_;
  double learning_rate_ = 0, wait_s_ = 0, validation_s_ = 0, elapsed_before_ = 0;
  int64_t steps_here_ = 0, tokens_here_ = 0;
  bool resumed_ = false, ended_early_ = false;
  std::chrono::steady_clock::time_point start_, last_progress_;
};

}  // namespace waymark
