// When a rank writes checkpoints, and what of its training they hold.
//
//   RankCheckpoints checkpoints(job, fingerprint, &group, TensorsOf(...));
//   absl::StatusOr<std::optional<TrainingPlace>> from = checkpoints.Load();
//   if (checkpoints.Due()) ...; checkpoints.Save(place);   // on all ranks at the same step
//   checkpoints.PublishWritten(step);                      // after each step
//
// Without --checkpoints none of them does anything. One thread. Includes LibTorch: for training/ only.
#pragma once
#include <chrono>
#include <optional>
#include <vector>

#include "training/distributed/mesh/rank_mesh.h"
#include "training/distributed/rank_vocabulary.h"
#include "training/distributed/sharded_checkpoint.h"
#include "training/distributed/train_job.h"

namespace waymark {

// All that a run goes on from; the pointers stay the model's and the best weights', and the vocabulary's
// where there is one. id_rows: of the id table, on all ranks together.
std::vector<CheckpointTensor> TensorsOf(RetrieverModel* model, BestWeights* best, int64_t id_rows,
                                        RankVocabulary* vocabulary, const RankMesh& mesh);

class RankCheckpoints {
 public:
  RankCheckpoints(const JobOptions& job, std::string fingerprint, RankGroup* group,
                  std::vector<CheckpointTensor> tensors);

  bool on() const { return files_.has_value(); }
  // Fills the tensors from the newest one that is whole and answers where it stands; nothing: there is none.
  absl::StatusOr<std::optional<TrainingPlace>> Load();
  // The interval counts from here.
  void Start();
  bool Due() const;
  // Begins one. What was begun before is published first; that it could not be is said, and training goes on.
  absl::Status Save(const TrainingPlace& place);
  // Waits for what was begun. An error is the same on all ranks, and training can go on.
  absl::Status Publish();
  // Publishes what was begun some steps ago, as Save does: by then the parts are on the disk, and nobody
  // waits.
  void PublishWritten(int64_t step);
  void RemoveAll();

  double seconds() const { return seconds_; }  // that training waited for them
  int written() const { return written_; }
  int failed() const { return failed_; }

 private:
  void PublishOrSay();
  void Say(const std::string& text) const;

  const JobOptions& job_;
  RankGroup* group_;
  std::vector<CheckpointTensor> tensors_;
  std::optional<ShardedCheckpoints> files_;
  std::chrono::steady_clock::time_point last_;
  int64_t publish_after_ = 0;
  double seconds_ = 0;
  int written_ = 0, failed_ = 0;
};

}  // namespace waymark
