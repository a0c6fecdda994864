// Checkpoints over ranks: each rank writes its part beside training, and when all parts are on the disk the
// first rank adds a manifest with the hash of every file and gives the folder its name. One without a
// manifest is half-written and never looked at. They can be read on any number of ranks.
//
//   FOLDER/step-000000500/{manifest.json, manifest.json.sha256, rank-00000.safetensors, ...}
//
//   ShardedCheckpoints checkpoints(folder, 3, fingerprint, &group);
//   checkpoints.Begin(pieces, place);   // copies what it needs and returns
//   checkpoints.Publish();              // later, on all ranks
//
// All of these are called on every rank at the same step. The folder is one that all ranks share. Includes
// LibTorch: for training/ only.
#pragma once
#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "store/package/safetensors.h"
#include "training/distributed/checkpoint_pieces.h"
#include "training/distributed/rank_group.h"
#include "training/precision.h"
#include "training/retriever/retriever_checkpoint.h"
#include "training/retriever/retriever_model.h"
#include "waymark/storage/training.pb.h"

namespace waymark {

class ShardedCheckpoints {
 public:
  // keep: how many stay. precision: of the run's passes, said of the checkpoints; their numbers are fp32.
  ShardedCheckpoints(std::filesystem::path folder, int keep, std::string fingerprint, RankGroup* group,
                     TrainingPrecision precision = TrainingPrecision::kFp32);
  ~ShardedCheckpoints();

  // What was begun before is published first.
  absl::Status Begin(const std::vector<CheckpointTensor>& tensors, const TrainingPlace& place);
  bool pending() const { return pending_; }
  // Waits for this rank's part, agrees with the others, and gives the checkpoint its name. An error names the
  // rank that could not write and why; it is the same on all ranks, nothing is left of the checkpoint, and
  // training can go on.
  absl::Status Publish();

  struct Loaded {
    TrainingPlace place;
    std::string folder;
    int ranks = 0;                     // that wrote it
    std::string precision;             // it was trained in
    std::vector<std::string> refused;  // newer ones that are damaged, with what is wrong
  };
  // Reads the newest one that is whole into the tensors; none: there is none. FAILED_PRECONDITION: it belongs
  // to other data or options.
  absl::StatusOr<std::optional<Loaded>> LoadNewest(const std::vector<CheckpointTensor>& tensors);
  // When the package is written they have done their work.
  void RemoveAll();

 private:
  std::vector<std::string> Names() const;
  absl::Status CheckFiles(const std::filesystem::path& folder,
                          const storage::TrainingCheckpoint& manifest) const;
  absl::Status ReadInto(const std::filesystem::path& folder, const storage::TrainingCheckpoint& manifest,
                        const std::vector<CheckpointTensor>& tensors) const;
  // Adds what this rank writes of a tensor to its file, and to the manifest.
  void AddRows(const CheckpointTensor& t, TensorMap* own);
  void AddRuns(const CheckpointTensor& t, TensorMap* own);
  storage::TrainingCheckpoint::Piece* AddPiece(const CheckpointTensor& t);
  absl::Status WriteManifest(const std::vector<std::string>& written);
  void DropOld();

  std::filesystem::path folder_;
  int keep_;
  std::string fingerprint_;
  RankGroup* group_;
  TrainingPrecision precision_;
  bool pending_ = false;
  std::string name_;
  storage::TrainingCheckpoint manifest_;  // of the pending one: this rank's pieces, then those of all
  std::future<absl::Status> writing_;
};

}  // namespace waymark
