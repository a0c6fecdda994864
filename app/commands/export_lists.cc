#include "training/shards/export_lists.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <thread>

#include "absl/strings/str_cat.h"
#include "app/commands/commands.h"
#include "app/data_copy.h"
#include "app/exit.h"
#include "app/json_output.h"
#include "app/option_checks.h"
#include "app/progress.h"
#include "app/serving_retriever.h"
#include "app/target.h"
#include "app/training_progress.h"

namespace waymark {
namespace export_lists_command {
namespace {

struct Options {
  Target target;
  std::string folder, compress = "zstd", retriever;
  ExportListsOptions lists;
  std::vector<std::string> arms;
  int threads = 0;
};

// The one that --retriever names, else the one that serves.
absl::StatusOr<ModelPackage> RetrieverOf(const Options& options, const CopiedCollection& data,
                                         Backend* backend) {
  v1::Release wanted;
  if (options.retriever.empty()) {
    auto active = ActiveRelease(options.target, backend);
    if (!active.ok()) return active.status();
    wanted = *std::move(active);
  } else {
    auto model = data.store->GetModel(data.scope, "retriever", options.retriever);
    if (!model.ok()) return model.status();
    wanted.set_retriever_version(options.retriever);
  }
  auto package = ServingRetriever(options.target.data, data, wanted);
  if (!package.ok()) return package.status();
  if (!*package) {
    return absl::FailedPreconditionError(
        "a ranker belongs to a retriever, and there is none yet; train one, or import one, first");
  }
  return **std::move(package);
}

int RunExportLists(const Options& options) {
  auto packing = ShardPackingOf(options.compress);
  if (!packing.ok()) return FailUsage(std::string(packing.status().message()));
  if (options.target.data.empty()) return FailUsage("lists are made from the data folder: say --data DIR");
  ExportListsOptions lists = options.lists;
  for (const std::string& text : options.arms) {
    auto arm = ParseArmWeight(text);
    if (!arm.ok()) return FailUsage(absl::StrCat("--arm: ", std::string(arm.status().message())));
    lists.arms.push_back(*std::move(arm));
  }
  auto backend = OpenTarget(options.target, Access::kRead);
  if (!backend.ok()) return Fail(backend.status());
  auto data =
      CopyCollection(backend->get(), options.target.data, {options.target.tenant, options.target.collection});
  if (!data.ok()) return Fail(data.status());
  auto retriever = RetrieverOf(options, *data, backend->get());
  if (!retriever.ok()) return Fail(retriever.status());
  lists.retriever = *std::move(retriever);
  lists.folder = options.folder;
  lists.collection = Parent(options.target);
  lists.packing = *packing;
  lists.threads = options.threads > 0 ? options.threads
                                      : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  StopBySignal stop;
  TrainingProgress progress;
  auto exported = ExportLists(
      {data->store.get(), data->scope, data->catalog.get(), data->index.get()}, lists,
      [&progress](const TrainProgress& state) { progress.Update(state); }, stop.token());
  Progress::ClearLine();
  if (!exported.ok()) return Fail(exported.status());
  if (options.target.json) return PrintJson(exported->index);
  const storage::ListsIndex& index = exported->index;
  Say(absl::StrCat(
      "wrote ", WithThousands(index.lists()), " lists to train on and ",
      WithThousands(index.validation_lists()), " to validate, of ", WithThousands(index.item_count()),
      " items and ", index.features_size(), " features, to ", index.files_size() + index.validation_size(),
      " files in ", options.folder, " for the retriever ", index.retriever_version(), "; ",
      WithThousands(index.without_target()), " more decisions teach nothing, their answer was not found",
      exported->kept > 0 ? absl::StrCat(" (", exported->kept, " files were there already)") : ""));
  return kDone;
}

}  // namespace
}  // namespace export_lists_command

void AddExportLists(CLI::App* group, Run* run) {
  using namespace export_lists_command;
  CLI::App* command = AddCommand(
      group, "lists",
      "Training shards for waymark-train: the ranking lists that a ranker learns from, packed, not "
      "encrypted; erasing a user does not reach them",
      "  waymark export lists shards --data DIR\n"
      "  waymark-train --shards shards --package ranker-1");
  auto options = std::make_shared<Options>();
  AddTargetOptions(command, &options->target);
  command->add_option("folder", options->folder, "made when it is not there; a stopped export goes on")
      ->required()
      ->type_name("FOLDER");
  command
      ->add_option("--retriever", options->retriever,
                   "that the ranker will serve with; the active release's, else the newest, when left out")
      ->type_name("VERSION");
  command->add_option("--files", options->lists.files, "at least as many as there will be ranks")
      ->check(CLI::Range(1, 99999))
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--compress", options->compress, "none, gzip or zstd")
      ->check(CLI::IsMember({"none", "gzip", "zstd"}))
      ->capture_default_str()
      ->type_name("HOW");
  command->add_option("--max-lists", options->lists.recipe.max_lists, "lists that the ranker learns from")
      ->check(OverZero())
      ->capture_default_str()
      ->type_name("N");
  command
      ->add_option("--ranker-share", options->lists.recipe.ranker_share,
                   "newest share of the log that teaches the ranker")
      ->check(CLI::Range(0.001, 0.9))
      ->capture_default_str()
      ->type_name("SHARE");
  command
      ->add_option("--validation-share", options->lists.recipe.validation_share,
                   "newest share that it is validated on")
      ->check(CLI::Range(0.001, 0.5))
      ->capture_default_str()
      ->type_name("SHARE");
  command
      ->add_option("--arm", options->arms,
                   "of this experiment the ranker learns from this arm alone, or from arms by their weights")
      ->type_name("EXPERIMENT/ARM[=WEIGHT]")
      ->allow_extra_args(false);
  command->add_option("--seed", options->lists.seed, "of the retriever through which the past is looked at")
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--threads", options->threads, "0: every core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str()
      ->type_name("N");
  command->callback([=] { *run = [options] { return RunExportLists(*options); }; });
}

}  // namespace waymark
