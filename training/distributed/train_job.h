// One job of `waymark-train`, as one of its ranks sees it: from training shards to a model package.
//
//   absl::StatusOr<JobResult> result = RunTrainJob(place, options, stop);
//
// The same shards, options and seed give the same losses, up to rounding, on any number of ranks; on the same
// number the same bits. LibTorch stays behind this header.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "training/distributed/launch.h"
#include "training/precision.h"
#include "training/retriever/dynamic_vocabulary.h"
#include "training/retriever/retriever_options.h"
#include "training/retriever/step_times.h"

namespace waymark {

enum class RateScaling { kNone, kLinear, kSquareRoot };

// What differs from the options that suit the shards.
struct JobOverrides {
  std::optional<int> batch_lists;  // of a ranker's training alone
  std::optional<int> epochs, patience, batch_tokens, negatives, warmup_steps, width, heads, blocks, history;
  std::optional<double> learning_rate, dropout, clip;
  std::optional<size_t> validation_users;
  std::optional<int64_t> admit_after, max_rows;  // VocabularyPolicy, of a retriever's training
  std::optional<EvictionRule> evict;
  uint64_t seed = 1;
  RateScaling scaling = RateScaling::kNone;  // of the learning rate with batch_tokens, from 1,024, or
                                             // batch_lists, from 48
};

struct JobProgress {
  int epoch = 0, epochs = 0;  // from 1
  int64_t step = 0;
  double done = 0;  // 0..1
  double loss = 0, step_loss = 0, learning_rate = 0;
  double validation_ndcg10 = -1;
  bool epoch_finished = false;
  double tokens_per_second = 0;
  const char* unit = "events";  // what tokens are: events, or lists
  StepTimes times;              // of this rank, so far
  absl::Duration elapsed, time_left;
};

struct JobOptions {
  std::filesystem::path shards, package;
  std::filesystem::path keys;  // the key bundle of sealed shards; empty: they are plain
  std::string version = "1";
  std::string program_version;  // ranks of another do not train together
  JobOverrides overrides;
  std::filesystem::path retriever;    // the package that a ranker's lists must belong to; empty: whichever
  std::filesystem::path init_from;    // a package to start from; empty: none
  std::filesystem::path checkpoints;  // empty: none are written
  absl::Duration checkpoint_interval = absl::Minutes(1);
  int keep_checkpoints = 3;
  int parts = 0;       // of a batch; 0: 4, or as many as ranks when those are more
  int threads = 1;     // of each rank
  int accumulate = 1;  // micro-batches of a part, one after the other
  TrainingPrecision precision = TrainingPrecision::kFp32;
  bool share_rows = false;
  std::string mesh;              // as MeshOf takes it (mesh/mesh_shape.h); empty: data alone
  bool shard_optimizer = false;  // each data rank has its share of the optimiser's state
  bool checkpoint_activations = false;
  int64_t memory_limit = 0;  // bytes of private memory of each process; 0: none
  std::string backend = "auto";
  absl::Duration timeout = absl::Seconds(60);
  int64_t max_steps = 0;  // 0: none; ends the run there, without a package
  absl::Duration progress_interval = absl::Seconds(1);
  std::function<void(const JobProgress&)> progress;  // every step that is due; called on every rank
  std::function<void(const std::string&)> say;       // messages
  std::function<void(int64_t step, double loss)> on_step;
  absl::Status ready;  // not OK: why this rank cannot do its part; all of them end with it before they train
};

struct JobResult {
  int ranks = 1;
  std::string backend, launcher, package_sha256, mesh;
  std::string unit = "events";  // what tokens are: events, or lists
  std::string precision = "fp32";
  int epochs = 0, best_epoch = 0, parts = 0;
  int threads = 1;  // of each rank
  int machine_threads = 1,
      machine_cores = 0;          // of the machine where most threads meet on a core; 0: not known
  int64_t steps = 0, tokens = 0;  // of this run, on all ranks
  double validation_ndcg10 = 0, validation_hit10 = -1;  // -1: not measured
  std::vector<double> epoch_losses, epoch_ndcg10;
  double train_seconds = 0;      // in steps and waiting for the reader, the mean of the ranks
  std::vector<StepTimes> times;  // [ranks]
  double validation_seconds = 0, checkpoint_seconds = 0;
  int64_t bytes_exchanged = 0, bytes_read = 0;  // of this rank
  // What it holds of the item table, and of all tables, with their moments.
  int64_t table_bytes = 0, all_table_bytes = 0;
  int checkpoints = 0, failed_checkpoints = 0;
  bool resumed = false;
  bool stopped_early = false;               // by max_steps
  std::optional<VocabularyUse> vocabulary;  // where not every item had a row
  int64_t erased_users = -1;  // in the shards, and erased since they were written; -1: they are plain
};

// CANCELLED: a stop was asked for on some rank; a checkpoint was written first. Other errors are the same on
// every rank, or name the rank that failed.
absl::StatusOr<JobResult> RunTrainJob(const LaunchPlace& place, const JobOptions& options,
                                      std::stop_token stop);

}  // namespace waymark
