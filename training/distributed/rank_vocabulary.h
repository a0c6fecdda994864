// The dynamic vocabulary of a run over ranks: each has a whole copy of which item has which row, shows it
// what all ranks read in each step, and so all copies stay the same, on any number of ranks. Rows of the
// table are reset where they lie.
//
// What a step reads is known when the epoch is: ranks tell each other the items of several steps at a time.
//
//   RankVocabulary vocabulary(items, policy, mesh.data());
//   corpus.id_rows = &vocabulary.now().rows_of_items();
//   vocabulary.TakeEpoch(&epoch, &rows_of_events);
//   vocabulary.BeforeStep(batch, step, &model);
//
// One thread. Throws ExchangeError. Includes LibTorch: for training/ only.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "training/distributed/checkpoint_pieces.h"
#include "training/distributed/epoch_parts.h"
#include "training/distributed/rank_group.h"
#include "training/retriever/dynamic_vocabulary.h"
#include "training/retriever/retriever_model.h"
#include "training/retriever/step_times.h"

namespace waymark {

class RankVocabulary {
 public:
  // group: the ranks that see other data. seed: of the values that rows begin with.
  RankVocabulary(int64_t items, const VocabularyPolicy& policy, uint64_t seed, RankGroup* group);

  const DynamicVocabulary& now() const { return vocabulary_; }

  // The items of a package that a run starts from have the first rows, as far as they go. all: [items].
  void Give(const std::vector<std::string>& of_package, const std::vector<std::string>& all);
  // What the rank reads of an epoch, of which `batch` is the next one; both stay until the next call. rows:
  // the items of its events.
  void TakeEpoch(const EpochData* epoch, const std::vector<int64_t>* rows, int64_t batch);
  // Every training event is read once an epoch: by the window that predicts it, or begins a history with it.
  void BeforeStep(int64_t batch, int64_t step, RetrieverModel* model);

  // As it is at the best epoch, and back to that.
  void KeepBest();
  absl::Status TakeBest();
  // Rows as they are now, items that came and went in all of the training.
  VocabularyUse Use() const;

  // For a checkpoint: what Save brings up to date, and what Load goes on from. written: as
  // CheckpointTensor's.
  std::vector<CheckpointTensor> Tensors(std::optional<RowShare> written);
  void Save();
  absl::Status Load();

  const StepTimes& times() const { return times_; }

 private:
  void ReadAhead(int64_t batch);

  DynamicVocabulary vocabulary_;
  uint64_t seed_;
  RankGroup* group_;
  const EpochData* epoch_ = nullptr;
  const std::vector<int64_t>* rows_ = nullptr;
  int64_t first_ = 0;                       // the batch that read_[0] belongs to
  std::vector<std::vector<int64_t>> read_;  // items that all ranks read in batches first_, first_ + 1, ...
  at::Tensor state_, best_;                 // [items + 1, DynamicVocabulary::kStateColumns]
  int64_t evicted_ = 0, admitted_ = 0;      // after the best epoch too
  StepTimes times_;
};

}  // namespace waymark
