#include "training/train.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <system_error>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "app/commands/commands.h"
#include "app/data_copy.h"
#include "app/exit.h"
#include "app/json_output.h"
#include "app/option_checks.h"
#include "app/progress.h"
#include "app/serving_retriever.h"
#include "app/target.h"
#include "app/training_progress.h"
#include "pipeline/model_registry.h"
#include "waymark/v1/release.pb.h"

namespace waymark {
namespace train_command {
namespace {

struct Options {
  Target target;
  std::string what, version;
  uint64_t seed = 1;
  int threads = 0;
  RecipeOptions recipe;
  std::vector<std::string> arms;
  bool activate = false, restart = false;
};

TrainWhat WhatOf(const std::string& name) {
  return name == "retriever" ? TrainWhat::kRetriever
         : name == "ranker"  ? TrainWhat::kRanker
                             : TrainWhat::kAll;
}

// Where the run lies: beside the data, by collection and target, so that the same command finds it again.
std::filesystem::path WorkFolder(const Options& options) {
  return std::filesystem::path(options.target.data) / "training" /
         absl::StrCat(options.target.tenant, "-", options.target.collection, "-", options.what);
}

// Hands the packages over and makes a release of them. Its id; empty when it was not activated.
absl::StatusOr<v1::Release> Publish(const Options& options, const TrainOutput& trained,
                                    const v1::Release& active, const std::optional<ModelPackage>& serving,
                                    Backend* backend) {
  const std::string parent = Parent(options.target);
  v1::CreateReleaseRequest create;
  create.set_parent(parent);
  create.set_note(absl::StrCat("trained on ", trained.events, " events of ", trained.users, " users"));
  if (serving) create.set_retriever_version(serving->manifest.version());
  for (const auto* package : {&trained.models.retriever, &trained.models.ranker}) {
    if (!*package) continue;
    auto model = backend->ImportModel(parent, (*package)->folder);
    // A run that was handed over before, and stopped after that, is there with the same contents.
    if (!model.ok()) return model.status();
    (package == &trained.models.retriever) ? create.set_retriever_version(trained.version)
                                           : create.set_ranker_version(trained.version);
  }
  v1::Release release;
  auto status = backend->Call("waymark.v1.ReleaseService.CreateRelease", create, &release);
  if (!status.ok()) return status;
  if (!active.id().empty() && !options.activate) return release;
  v1::ActivateReleaseRequest activate;
  activate.set_parent(parent);
  activate.set_id(release.id());
  activate.set_reason(active.id().empty() ? "the first release" : "train --activate");
  status = backend->Call("waymark.v1.ReleaseService.ActivateRelease", activate, &release);
  if (!status.ok()) return status;
  return release;
}

int Report(const Options& options, const TrainOutput& trained, const v1::Release& release,
           absl::Duration took) {
  if (options.target.json) return PrintJson(release);
  std::printf("trained %s on %s events of %s users in %s\n", trained.version.c_str(),
              WithThousands(trained.events).c_str(), WithThousands(trained.users).c_str(),
              ShortDuration(took).c_str());
  for (const auto* package : {&trained.models.retriever, &trained.models.ranker}) {
    if (!*package) continue;
    std::map<std::string, std::string> metrics;
    for (const auto& [name, value] : (*package)->manifest.metrics()) {
      // Protobuf's maps have no order, and most of these are counts.
      const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
      metrics[name] = whole ? absl::StrFormat("%.0f", value) : absl::StrFormat("%.4f", value);
    }
    std::printf("  %-10s%s\n", (*package)->manifest.kind().c_str(),
                absl::StrJoin(metrics, ", ", absl::PairFormatter(" ")).c_str());
  }
  if (release.active()) {
    std::printf("release %s is active\n", release.id().c_str());
  } else {
    std::printf("release %s is made; `waymark release activate %s` serves it\n", release.id().c_str(),
                release.id().c_str());
  }
  return kDone;
}

// Before hours are spent on packages that could not be registered. What a stopped run has handed over already
// is its own.
absl::Status CheckVersionIsFree(const Options& options, const CopiedCollection& data) {
  if (options.version.empty() || std::filesystem::exists(WorkFolder(options))) return absl::OkStatus();
  for (const char* kind : {"retriever", "ranker"}) {
    if (options.what != "all" && options.what != kind) continue;
    if (data.store->GetModel(data.scope, kind, options.version).ok()) {
      return absl::AlreadyExistsError(absl::StrCat("--version: ", kind, " '", options.version,
                                                   "' is registered already; give this one another name"));
    }
  }
  return absl::OkStatus();
}

int RunTrain(const Options& options) {
  if (options.target.data.empty()) return FailUsage("training reads the data folder: say --data DIR");
  TrainOptions train;
  train.what = WhatOf(options.what);
  for (const std::string& text : options.arms) {
    auto arm = ParseArmWeight(text);
    if (!arm.ok()) return FailUsage(absl::StrCat("--arm: ", std::string(arm.status().message())));
    train.arms.push_back(*std::move(arm));
  }
  if (train.what == TrainWhat::kRetriever && !train.arms.empty())
    return FailUsage("--arm: a retriever learns from everybody's events; arms are for the ranker, or all");
  auto backend = OpenTarget(options.target, Access::kWrite);
  if (!backend.ok()) return Fail(backend.status());
  const absl::Time start = absl::Now();
  auto data =
      CopyCollection(backend->get(), options.target.data, {options.target.tenant, options.target.collection});
  if (!data.ok()) return Fail(data.status());
  auto active = ActiveRelease(options.target, backend->get());
  if (!active.ok()) return Fail(active.status());

  train.work_folder = WorkFolder(options);
  train.version = options.version;
  train.seed = options.seed;
  train.threads = options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  train.recipe = options.recipe;
  if (train.what == TrainWhat::kRanker) {
    auto retriever = ServingRetriever(options.target.data, *data, *active);
    if (!retriever.ok()) return Fail(retriever.status());
    train.serving_retriever = *std::move(retriever);
  }
  std::error_code error;
  if (options.restart) std::filesystem::remove_all(train.work_folder, error);
  if (auto status = CheckVersionIsFree(options, *data); !status.ok()) return Fail(status);
  std::filesystem::create_directories(train.work_folder, error);
  if (error)
    return Fail(absl::UnavailableError(
        absl::StrCat("cannot make ", train.work_folder.string(), ": ", error.message())));

  StopBySignal stop;
  TrainingProgress progress;
  auto trained = Train(
      {data->store.get(), data->scope, data->catalog.get(), data->index.get()}, train,
      [&progress](const TrainProgress& state) { progress.Update(state); }, stop.token());
  Progress::ClearLine();
  if (!trained.ok()) {
    if (stop.Requested()) {
      Say("stopped; the same command goes on from here (--restart begins again)");
      return kFailed;
    }
    return Fail(trained.status());
  }
  auto release = Publish(options, *trained, *active, train.serving_retriever, backend->get());
  if (!release.ok()) {
    Say(absl::StrCat("the packages lie in ", train.work_folder.string()));
    return Fail(release.status());
  }
  std::filesystem::remove_all(train.work_folder, error);
  return Report(options, *trained, *release, absl::Now() - start);
}

}  // namespace
}  // namespace train_command

void AddTrain(CLI::App* app, Run* run) {
  using namespace train_command;
  CLI::App* command = AddCommand(app, "train", "Learn a retriever, a ranker or both from the events",
                                 "  waymark train all --data DIR\n"
                                 "  waymark train ranker --data DIR --activate");
  auto options = std::make_shared<Options>();
  AddTargetOptions(command, &options->target);
  command->add_option("what", options->what, "retriever, ranker or all")
      ->required()
      ->check(CLI::IsMember({"retriever", "ranker", "all"}))
      ->type_name("WHAT");
  command->add_flag("--activate", options->activate, "serve it at once (the first release is, in any case)");
  command->add_option("--version", options->version, "of the packages; made of the time when left out")
      ->check(CLI::Validator(
          [](std::string& name) -> std::string {
            if (IsVersionName(name)) return "";
            return absl::StrCat("is '", name, "'; it takes 1 to 64 letters, digits, '.', '-' or '_'");
          },
          ""))
      ->type_name("NAME");
  command->add_option("--seed", options->seed, "the same seed gives the same weights")
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--threads", options->threads, "0: every core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--max-lists", options->recipe.max_lists, "lists that the ranker learns from")
      ->check(OverZero())
      ->capture_default_str()
      ->type_name("N");
  command
      ->add_option("--ranker-share", options->recipe.ranker_share,
                   "newest share of the log that teaches the ranker")
      ->check(CLI::Range(0.001, 0.9))
      ->capture_default_str()
      ->type_name("SHARE");
  command
      ->add_option("--validation-share", options->recipe.validation_share,
                   "newest share that it is validated on")
      ->check(CLI::Range(0.001, 0.5))
      ->capture_default_str()
      ->type_name("SHARE");
  command
      ->add_option("--arm", options->arms,
                   "of this experiment the ranker learns from this arm alone, or from arms by their weights")
      ->type_name("EXPERIMENT/ARM[=WEIGHT]")
      ->allow_extra_args(false);
  command->add_flag("--restart", options->restart, "drop a run that was stopped");
  command->callback([=] { *run = [options] { return RunTrain(*options); }; });
}

}  // namespace waymark
