#include "training/recipe/train_models.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "pipeline/blending_plan.h"
#include "training/past/list_maker.h"
#include "training/ranker/ranker_trainer.h"
#include "training/retriever/retriever_trainer.h"

namespace waymark {
namespace {

// One run of the recipe; parts are made once and kept.
class Run {
 public:
  Run(const TrainingLog& log, const Recipe& recipe, const TrainEnvironment& environment,
      const TrainModelsOptions& options, const std::function<void(const TrainProgress&)>& progress,
      std::stop_token stop)
      : log_(log),
        recipe_(recipe),
        environment_(environment),
        options_(options),
        progress_(progress),
        stop_(stop) {}

  absl::StatusOr<TrainedModels> All() {
    TrainedModels out;
    if (auto status = TrainFirst(); !status.ok()) return status;
    if (options_.ranker && recipe_.validation.with_final) {
      if (auto status = TrainFinal(); !status.ok()) return status;
    }
    std::optional<TrainedRanker> ranker;
    if (options_.ranker) {
      RankingLists train(FeatureTable::Current().size(), {}), validation(FeatureTable::Current().size(), {});
      if (auto status = MakeLists(recipe_.train, "lists (train)", &train); !status.ok()) return status;
      if (auto status = MakeLists(recipe_.validation, "lists (validation)", &validation); !status.ok())
        return status;
      out.train_lists = train.size();
      out.validation_lists = validation.size();
      out.without_target = train.without_target() + validation.without_target();
      auto trained = TrainRankerOn(train, validation);
      if (!trained.ok()) return trained.status();
      ranker = *std::move(trained);
    }
    if (!final_ && !options_.serving_retriever) {
      if (auto status = TrainFinal(); !status.ok()) return status;
    }
    if (options_.serving_retriever) final_ = options_.serving_retriever;
    if (options_.retriever) out.retriever = final_;
    if (ranker) {
      auto package = WriteRanker(*ranker);
      if (!package.ok()) return package.status();
      out.ranker = *std::move(package);
    }
    return out;
  }

  absl::StatusOr<ModelPackage> First() {
    if (auto status = TrainFirst(); !status.ok()) return status;
    return *first_;
  }

 private:
  absl::Status TrainFirst() {
    // A retriever alone needs the first one to find out how many epochs are enough.
    auto options = RetrieverOptionsFor(log_.Known(recipe_.first.cut));
    options.held_out = recipe_.first.held_out;
    auto package = TrainRetrieverOn(recipe_.first, options, "first", "retriever (first)");
    if (!package.ok()) return package.status();
    first_ = *std::move(package);
    return absl::OkStatus();
  }

  absl::Status TrainFinal() {
    auto options = RetrieverOptionsFor(log_.Known(recipe_.final.cut));
    options.held_out = recipe_.final.held_out;
    if (recipe_.final.held_out == 0) {
      const auto best = first_->manifest.metrics().find("best_epoch");
      if (best != first_->manifest.metrics().end())
        options.epochs = std::max(1, static_cast<int>(best->second));
    }
    auto package = TrainRetrieverOn(recipe_.final, options, "retriever", "retriever (final)");
    if (!package.ok()) return package.status();
    final_ = *std::move(package);
    return absl::OkStatus();
  }

  absl::StatusOr<ModelPackage> TrainRetrieverOn(const RetrieverData& data, RetrieverOptions options,
                                                const std::string& folder, const std::string& stage) {
    const std::filesystem::path target = options_.work_folder / folder;
    if (std::filesystem::exists(target)) return OpenModelPackage(target);  // of a run that was stopped later
    options.seed = options_.seed;
    options.threads = options_.threads;
    RetrieverRun run;
    run.package_folder = target;
    run.version = options_.version;
    run.clock = environment_.clock;
    run.log_epoch = environment_.log_epoch;
    run.checkpoint_folder = options_.work_folder / (folder + "-checkpoint");
    run.stop = stop_;
    run.progress = [&](const RetrieverProgress& p) {
      TrainProgress out{.stage = stage, .done = p.done, .time_left = p.time_left};
      out.detail = absl::StrFormat("epoch %d/%d  loss %.4f  ", p.epoch, p.epochs, p.loss);
      if (p.validation_ndcg10 >= 0) absl::StrAppendFormat(&out.detail, "nDCG@10 %.4f  ", p.validation_ndcg10);
      absl::StrAppendFormat(&out.detail, "%.0f events/s", p.events_per_second);
      Say(std::move(out));
    };
    auto result = TrainRetriever(log_.Known(data.cut), *environment_.view.items, options, run);
    if (!result.ok()) return result.status();
    TrainProgress done{.stage = stage, .done = 1, .stage_done = true};
    done.detail = absl::StrFormat("%d epochs, ", result->epochs);
    if (data.held_out > 0) {
      absl::StrAppendFormat(&done.detail, "best %d, validation nDCG@10 %.4f, ", result->best_epoch,
                            result->validation_ndcg10);
    }
    absl::StrAppend(&done.detail,
                    absl::FormatDuration(absl::Trunc(result->elapsed, absl::Milliseconds(100))));
    Say(std::move(done));
    return result->package;
  }

  absl::StatusOr<std::unique_ptr<PastView>> ViewOf(const ListPlan& plan) {
    auto retriever = Retriever::Load(plan.with_final ? *final_ : *first_, environment_.view.items);
    if (!retriever.ok()) return retriever.status();
    return PastView::Make(log_.Known(plan.view), *std::move(retriever), environment_.view);
  }

  absl::Status MakeLists(const ListPlan& plan, const std::string& stage, RankingLists* lists) {
    const absl::Time start = absl::Now();
    auto view = ViewOf(plan);
    if (!view.ok()) return view.status();
    const size_t all = plan.decisions.size();
    const auto progress = [&](size_t done) {
      const double share = static_cast<double>(done) / all,
                   seconds = absl::ToDoubleSeconds(absl::Now() - start);
      TrainProgress out{.stage = stage, .done = share, .stage_done = done == all};
      out.detail = absl::StrFormat("%d/%d decisions  %.0f/s", done, all, done / std::max(seconds, 1e-3));
      out.time_left = absl::Seconds(seconds / share * (1 - share));
      Say(std::move(out));
    };
    return MakeRankingLists(log_, environment_.scope, plan.decisions, **view, DefaultBlendingPlan(),
                            {.as_known = recipe_.as_known, .threads = options_.threads}, progress, stop_,
                            lists);
  }

  absl::StatusOr<TrainedRanker> TrainRankerOn(const RankingLists& train, const RankingLists& validation) {
    RankerTrainerOptions options;
    options.seed = options_.seed;
    options.threads = options_.threads;
    options.checkpoint_folder = options_.work_folder / "ranker-checkpoint";
    const absl::Time start = absl::Now();
    const auto progress = [&](const RankerProgress& p) {
      TrainProgress out{.stage = "ranker"};
      const double epochs =
          p.epoch - 1 + (p.epoch_lists == 0 ? 0.0 : static_cast<double>(p.lists) / p.epoch_lists);
      const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
      out.done = epochs / std::max(1, p.max_epochs);
      if (out.done > 0) out.time_left = absl::Seconds(seconds / out.done * (1 - out.done));
      out.detail = absl::StrFormat("epoch %d/%d  loss %.4f  ", p.epoch, p.max_epochs, p.loss);
      if (p.best_validation_ndcg > 0) {
        absl::StrAppendFormat(&out.detail, "nDCG@10 %.4f (best %.4f)  ", p.validation_ndcg,
                              p.best_validation_ndcg);
      }
      absl::StrAppendFormat(&out.detail, "%.0f lists/s",
                            epochs * static_cast<double>(p.epoch_lists) / std::max(seconds, 1e-3));
      Say(std::move(out));
    };
    auto trained = TrainRanker(train, validation, *environment_.view.items, options, progress, stop_);
    if (!trained.ok()) return trained.status();
    TrainProgress done{.stage = "ranker", .done = 1, .stage_done = true};
    done.detail =
        absl::StrFormat("%d lists, best epoch %.0f, validation nDCG@10 %.4f, %s", trained->lists,
                        trained->metrics["best_epoch"], trained->metrics["validation_ndcg_at_10"],
                        absl::FormatDuration(absl::Trunc(absl::Now() - start, absl::Milliseconds(100))));
    Say(std::move(done));
    return trained;
  }

  absl::StatusOr<ModelPackage> WriteRanker(const TrainedRanker& ranker) {
    storage::ModelManifest manifest;
    manifest.set_name("ranker");
    manifest.set_version(options_.version);
    manifest.set_create_time(
        absl::FormatTime(absl::RFC3339_sec, environment_.clock->Now(), absl::UTCTimeZone()));
    manifest.set_retriever_sha256(final_->content_sha256);
    auto* data = manifest.mutable_data();
    *data->mutable_first() = EmbeddedPosition(environment_.log_epoch, ranker.first_position);
    *data->mutable_last() = EmbeddedPosition(environment_.log_epoch, ranker.last_position);
    data->set_events(static_cast<int64_t>(log_.events.size()));
    data->set_users(static_cast<int64_t>(log_.users.size()));
    data->set_items(log_.item_end);
    const std::filesystem::path target = options_.work_folder / "ranker";
    std::error_code ignored;
    std::filesystem::remove_all(target, ignored);  // of a run that was stopped after writing it
    return WriteRankerPackage(target, ranker, FeatureTable::Current(), std::move(manifest));
  }

  void Say(TrainProgress progress) {
    if (progress_) progress_(progress);
  }

  const TrainingLog& log_;
  const Recipe& recipe_;
  const TrainEnvironment& environment_;
  const TrainModelsOptions& options_;
  const std::function<void(const TrainProgress&)>& progress_;
  std::stop_token stop_;
  std::optional<ModelPackage> first_, final_;
};

absl::Status MakeWorkFolder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot make ", folder.string(), ": ", error.message()));
}

}  // namespace

absl::StatusOr<TrainedModels> TrainModels(const TrainingLog& log, const Recipe& recipe,
                                          const TrainEnvironment& environment,
                                          const TrainModelsOptions& options,
                                          const std::function<void(const TrainProgress&)>& progress,
                                          std::stop_token stop) {
  if (auto status = MakeWorkFolder(options.work_folder); !status.ok()) return status;
  return Run(log, recipe, environment, options, progress, stop).All();
}

absl::StatusOr<ModelPackage> TrainFirstRetriever(const TrainingLog& log, const Recipe& recipe,
                                                 const TrainEnvironment& environment,
                                                 const TrainModelsOptions& options,
                                                 const std::function<void(const TrainProgress&)>& progress,
                                                 std::stop_token stop) {
  if (auto status = MakeWorkFolder(options.work_folder); !status.ok()) return status;
  return Run(log, recipe, environment, options, progress, stop).First();
}

}  // namespace waymark
