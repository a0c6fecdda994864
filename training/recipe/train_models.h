// Runs a recipe: first retriever, ranking lists, ranker, final retriever, packages. What `waymark train` and
// `waymark evaluate recommend` both stand on.
//
// Everything lies in one work folder. A run that was stopped goes on from there: finished packages are taken
// as they are, an unfinished part goes on from its checkpoint.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "store/clock.h"
#include "store/package/model_package.h"
#include "training/past/past_view.h"
#include "training/recipe/recipe.h"

namespace waymark {

struct TrainEnvironment {
  Scope scope;
  uint64_t log_epoch = 0;
  PastViewParts view;
  const Clock* clock = Clock::Real();
};

struct TrainModelsOptions {
  bool retriever = true, ranker = true;
  // Of a ranker alone: the retriever that serves.
  std::optional<ModelPackage> serving_retriever;
  std::filesystem::path work_folder;
  std::string version;
  uint64_t seed = 1;
  int threads = 2;
};

struct TrainProgress {
  std::string stage;        // "retriever (first)", "lists", "ranker", "retriever (final)"
  double done = 0;          // share of the stage, 0..1
  std::string detail = {};  // epoch, loss, metric, rate
  absl::Duration time_left = absl::InfiniteDuration();
  bool stage_done = false;
};

struct TrainedModels {
  std::optional<ModelPackage> retriever, ranker;
  // Of the lists: how many, and how many decisions had no target among their candidates.
  size_t train_lists = 0, validation_lists = 0;
  int64_t without_target = 0;
};

// CANCELLED when stopped.
absl::StatusOr<TrainedModels> TrainModels(const TrainingLog& log, const Recipe& recipe,
                                          const TrainEnvironment& environment,
                                          const TrainModelsOptions& options,
                                          const std::function<void(const TrainProgress&)>& progress,
                                          std::stop_token stop);

// The first retriever alone, in work_folder/first: what ranking lists are looked at through.
absl::StatusOr<ModelPackage> TrainFirstRetriever(const TrainingLog& log, const Recipe& recipe,
                                                 const TrainEnvironment& environment,
                                                 const TrainModelsOptions& options,
                                                 const std::function<void(const TrainProgress&)>& progress,
                                                 std::stop_token stop);

}  // namespace waymark
