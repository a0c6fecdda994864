#include "training/train.h"

#include "absl/strings/str_cat.h"
#include "training/run_file.h"

namespace waymark {
namespace {

const char* NameOf(TrainWhat what) {
  switch (what) {
    case TrainWhat::kRetriever:
      return "retriever";
    case TrainWhat::kRanker:
      return "ranker";
    case TrainWhat::kAll:
      return "all";
  }
  return "all";
}

std::string ArmsText(const std::vector<ArmWeight>& arms) {
  std::string text;
  for (const ArmWeight& arm : arms) absl::StrAppend(&text, text.empty() ? "" : " ", arm.Text());
  return text;
}

// The run that `options` ask for, on the log as it is now.
RunFile NewRun(const Store& store, const TrainOptions& options) {
  RunFile run;
  run.what = NameOf(options.what);
  run.version = options.version.empty()
                    ? absl::FormatTime("%Y%m%d-%H%M%S", options.clock->Now(), absl::UTCTimeZone())
                    : options.version;
  run.seed = options.seed;
  run.log_epoch = store.epoch();
  run.up_to = store.End();
  run.ranker_share = options.recipe.ranker_share;
  run.validation_share = options.recipe.validation_share;
  run.max_lists = options.recipe.max_lists;
  run.arms = ArmsText(options.arms);
  if (options.serving_retriever) run.serving_retriever_sha256 = options.serving_retriever->content_sha256;
  return run;
}

// The first difference that would make the stopped run another one; empty: none.
std::string Difference(const RunFile& stopped, const RunFile& asked, bool version_given) {
  const auto differs = [](const char* name, const auto& was, const auto& is) {
    return was == is ? std::string() : absl::StrCat(name, " ", was, ", asked now is ", is);
  };
  for (const std::string& difference :
       {differs("target", stopped.what, asked.what), differs("seed", stopped.seed, asked.seed),
        differs("log epoch", stopped.log_epoch, asked.log_epoch),
        differs("ranker share", stopped.ranker_share, asked.ranker_share),
        differs("validation share", stopped.validation_share, asked.validation_share),
        differs("list limit", stopped.max_lists, asked.max_lists), differs("arms", stopped.arms, asked.arms),
        differs("serving retriever", stopped.serving_retriever_sha256, asked.serving_retriever_sha256),
        version_given ? differs("version", stopped.version, asked.version) : std::string()}) {
    if (!difference.empty()) return difference;
  }
  return "";
}

}  // namespace

absl::StatusOr<TrainOutput> Train(const TrainInput& input, const TrainOptions& options,
                                  const std::function<void(const TrainProgress&)>& progress,
                                  std::stop_token stop) {
  if (options.what == TrainWhat::kRanker && !options.serving_retriever) {
    return absl::FailedPreconditionError(
        "a ranker belongs to a retriever, and there is none yet; train a retriever first, or all");
  }
  // Before anything is written: a mistyped arm leaves no stopped run behind.
  std::optional<ArmFilter> arms;
  if (!options.arms.empty()) {
    auto read = ArmFilter::Read(*input.store, input.scope, options.arms);
    if (!read.ok()) return read.status();
    arms = *std::move(read);
  }
  RunFile run = NewRun(*input.store, options);
  TrainOutput out;
  auto stopped = ReadRunFile(options.work_folder);
  if (!stopped.ok()) return stopped.status();
  if (*stopped) {
    const std::string difference = Difference(**stopped, run, !options.version.empty());
    if (!difference.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("a stopped run lies in ", options.work_folder.string(), " with ", difference,
                       "; give the options of that run to go on, or --restart to drop it"));
    }
    run = **stopped;
    out.resumed = true;
  } else if (auto status = WriteRunFile(options.work_folder, run); !status.ok()) {
    return status;
  }

  auto log = TrainingLog::Read(*input.store, input.scope, run.up_to);
  if (!log.ok()) return log.status();
  RecipeOptions recipe_options = options.recipe;
  if (arms) recipe_options.arms = &*arms;
  auto recipe = ServingRecipe(*log, recipe_options);
  if (!recipe.ok()) {
    // Nothing has been trained, so there is nothing to go on with.
    if (!out.resumed) RemoveRunFile(options.work_folder);
    return recipe.status();
  }
  const CatalogDirectory items(input.store, input.scope, input.catalog);
  TrainEnvironment environment;
  environment.scope = input.scope;
  environment.log_epoch = run.log_epoch;
  environment.view = {&items, input.catalog, input.index};
  environment.clock = options.clock;
  TrainModelsOptions models;
  models.retriever = options.what != TrainWhat::kRanker;
  models.ranker = options.what != TrainWhat::kRetriever;
  if (options.what == TrainWhat::kRanker) models.serving_retriever = options.serving_retriever;
  models.work_folder = options.work_folder;
  models.version = run.version;
  models.seed = options.seed;
  models.threads = options.threads;
  auto trained = TrainModels(*log, *recipe, environment, models, progress, stop);
  if (!trained.ok()) return trained.status();
  out.models = *std::move(trained);
  out.version = run.version;
  out.events = static_cast<int64_t>(log->events.size());
  out.users = static_cast<int64_t>(log->users.size());
  out.up_to = run.up_to;
  return out;
}

}  // namespace waymark
