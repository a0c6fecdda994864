// A job of `waymark-train` whose shards are ranking lists: what train_job.h is for a retriever.
//
//   absl::StatusOr<RankerSetup> setup = SetUpRanker(place, job);
//   absl::StatusOr<JobResult> result = TrainRankerOver(place, job, *setup, group, stop);
//
// Includes LibTorch: for training/ only.
#pragma once
#include <optional>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "training/distributed/rank_group.h"
#include "training/distributed/train_job.h"
#include "training/ranker/ranker_options.h"
#include "training/shards/key_bundle.h"
#include "waymark/storage/lists.pb.h"

namespace waymark {

// What a rank can find out before it meets the others.
struct RankerSetup {
  storage::ListsIndex index;
  RankerTrainerOptions options;
  int parts = 0;
  std::optional<ShardKeys> keys;
  std::string settings;  // all that the result depends on, one `name value` a line
};

// INVALID_ARGUMENT names an option that does not fit, or that a ranker's training does not have.
absl::StatusOr<RankerTrainerOptions> RankerOptionsOfJob(const JobOptions& job);
// FAILED_PRECONDITION: the lists are of other features, or belong to another retriever than job.retriever.
absl::StatusOr<RankerSetup> SetUpRanker(const LaunchPlace& place, const JobOptions& job);
// As RunTrainJob. Throws ExchangeError and what LibTorch throws.
absl::StatusOr<JobResult> TrainRankerOver(const LaunchPlace& place, const JobOptions& job,
                                          const RankerSetup& setup, RankGroup* group, std::stop_token stop);

}  // namespace waymark
