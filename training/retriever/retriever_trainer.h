// Trains a retriever on the histories of users and writes it as a model package.
//
//   RetrieverRun run;
//   run.package_folder = data / "models/retriever-7";  run.version = "7";  run.clock = Clock::Real();
//   absl::StatusOr<RetrieverResult> result = TrainRetriever(interactions, items, options, run);
//
// The same data, options and machine give the same package, bit for bit, whatever the number of threads and
// however often training was stopped and went on. LibTorch stays behind this header.
#pragma once
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "candidates/item_directory.h"
#include "recommend/interactions.h"
#include "store/clock.h"
#include "store/package/model_package.h"
#include "training/retriever/retriever_options.h"

namespace waymark {

struct RetrieverProgress {
  int epoch = 0, epochs = 0;      // epoch: from 1
  int64_t step = 0;               // done
  double done = 0;                // share of the planned work, 0..1; may end earlier
  double loss = 0;                // mean of the epoch so far
  double validation_ndcg10 = -1;  // of the newest finished epoch; -1: none yet
  bool epoch_finished = false;
  double events_per_second = 0;
  absl::Duration elapsed, time_left;
};

struct RetrieverRun {
  std::filesystem::path package_folder;  // must not exist yet
  std::string version, name = "retriever";
  const Clock* clock = nullptr;  // for the manifest's create_time; must be given
  uint64_t log_epoch = 0;        // of the log that the interactions' offsets count in
  // Where a stopped run leaves its state and a later one finds it; empty: nowhere.
  std::filesystem::path checkpoint_folder;
  absl::Duration checkpoint_interval = absl::Minutes(1);
  // Weights to start from: the newest release, or the model of yesterday's events.
  const ModelPackage* init_from = nullptr;
  // Called every `progress_interval` and at the end of each epoch, from the calling thread.
  std::function<void(const RetrieverProgress&)> progress;
  absl::Duration progress_interval = absl::Seconds(1);
  // A requested stop ends the step that is running, writes the checkpoint and answers CANCELLED.
  std::stop_token stop;
};

struct RetrieverResult {
  ModelPackage package;
  int epochs = 0;                                      // trained
  int best_epoch = 0;                                  // from 1: whose weights the package holds
  double validation_ndcg10 = 0, validation_hit10 = 0;  // of those; 0 without validation
  std::vector<double> epoch_losses, epoch_ndcg10;
  absl::Duration elapsed;
  bool resumed = false;
};

// INVALID_ARGUMENT (options, init_from), FAILED_PRECONDITION (too little data, a checkpoint of another run),
// CANCELLED (stop), ALREADY_EXISTS and others of WriteModelPackage.
absl::StatusOr<RetrieverResult> TrainRetriever(const Interactions& interactions, const ItemDirectory& items,
                                               const RetrieverOptions& options, const RetrieverRun& run);

}  // namespace waymark
