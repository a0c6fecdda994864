// `waymark train`: from a store to model packages.
//
// The run lies in a work folder with a run.json, which says what is trained on which part of the log. The
// same command again, after a stop, goes on with the same part of the log.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "index/keyword_index.h"
#include "training/recipe/train_models.h"

namespace waymark {

enum class TrainWhat { kRetriever, kRanker, kAll };

struct TrainOptions {
  TrainWhat what = TrainWhat::kAll;
  std::filesystem::path work_folder;
  std::string version;  // empty: from the time of the start
  uint64_t seed = 1;
  int threads = 2;
  RecipeOptions recipe;
  std::vector<ArmWeight> arms;                    // whose decisions teach the ranker; empty: everybody's
  std::optional<ModelPackage> serving_retriever;  // of kRanker
  const Clock* clock = Clock::Real();
};

// What the models are trained on. `index` may be null (then decisions with a query are not looked at).
struct TrainInput {
  const Store* store = nullptr;
  Scope scope;
  const Catalog* catalog = nullptr;
  const KeywordIndex* index = nullptr;
};

struct TrainOutput {
  TrainedModels models;
  std::string version;
  bool resumed = false;
  int64_t events = 0, users = 0;
  LogOffset up_to = 0;
};

// The packages lie in the work folder; the caller imports them, then removes it. FAILED_PRECONDITION: too
// little data (says how much there is), or the work folder holds a run with other options (says which, and
// how to drop it).
absl::StatusOr<TrainOutput> Train(const TrainInput& input, const TrainOptions& options,
                                  const std::function<void(const TrainProgress&)>& progress,
                                  std::stop_token stop);

}  // namespace waymark
