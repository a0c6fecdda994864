// `waymark export lists`: from a store to training shards of ranking lists, the same that `waymark train
// ranker` makes in memory.
//
// A first retriever and counts see what came before the decisions that teach; through them each decision is
// looked at as it stood (docs/ranking.md). Decisions are spread over files by user, files are made side by
// side, and a stopped export goes on as one of histories does (export_examples.h). No more lists are in
// memory than the files under way have.
//
// Each list is sealed under its user's key, unless `plain`, as histories are.
#pragma once
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "training/shards/shard_packing.h"
#include "training/train.h"
#include "waymark/storage/lists.pb.h"

namespace waymark {

struct ExportListsOptions {
  std::filesystem::path folder;  // made when it does not exist
  std::string collection;        // its name, so that a stopped export of another one is told apart
  int files = 32;                // of lists that are trained on, and as many that validate
  ShardPacking packing = ShardPacking::kZstd;
  bool plain = false;
  int threads = 2;
  uint64_t seed = 1;  // of the first retriever
  RecipeOptions recipe;
  std::vector<ArmWeight> arms;  // whose decisions teach; empty: everybody's
  ModelPackage retriever;       // that the ranker will serve with
  const Clock* clock = Clock::Real();
};

struct ExportedLists {
  storage::ListsIndex index;
  int kept = 0;  // files of an export that was stopped
};

// ALREADY_EXISTS: the folder holds shards. FAILED_PRECONDITION: too little data, or a stopped export with
// other options (which are named). CANCELLED.
absl::StatusOr<ExportedLists> ExportLists(const TrainInput& input, const ExportListsOptions& options,
                                          const std::function<void(const TrainProgress&)>& progress,
                                          std::stop_token stop);

}  // namespace waymark
