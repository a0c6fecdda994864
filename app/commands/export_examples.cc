#include "training/shards/export_examples.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <thread>

#include "absl/strings/str_cat.h"
#include "app/commands/commands.h"
#include "app/data_copy.h"
#include "app/exit.h"
#include "app/json_output.h"
#include "app/progress.h"
#include "app/target.h"
#include "app/training_progress.h"

namespace waymark {
namespace export_examples_command {
namespace {

struct Options {
  Target target;
  std::string folder, compress = "zstd";
  ExportExamplesOptions examples;
  int threads = 0;
};

int RunExportExamples(const Options& options) {
  auto packing = ShardPackingOf(options.compress);
  if (!packing.ok()) return FailUsage(std::string(packing.status().message()));
  if (options.target.data.empty()) return FailUsage("examples are read from the data folder: say --data DIR");
  auto backend = OpenTarget(options.target, Access::kRead);
  if (!backend.ok()) return Fail(backend.status());
  auto data =
      CopyCollection(backend->get(), options.target.data, {options.target.tenant, options.target.collection});
  if (!data.ok()) return Fail(data.status());
  ExportExamplesOptions examples = options.examples;
  examples.folder = options.folder;
  examples.packing = *packing;
  examples.threads = options.threads > 0
                         ? options.threads
                         : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  StopBySignal stop;
  Progress progress("export examples");
  auto exported = ExportExamples(
      {data->store.get(), data->scope, data->catalog.get(), Parent(options.target)}, examples,
      [&progress](int done, int all) {
        progress.Update(
            {.done = done, .unit = "files", .fraction = static_cast<double>(done) / all, .note = {}});
      },
      stop.token());
  progress.Finish();
  if (!exported.ok()) return Fail(exported.status());
  if (options.target.json) return PrintJson(exported->index);
  const storage::ExamplesIndex& index = exported->index;
  Say(absl::StrCat(
      "wrote ", WithThousands(index.examples()), " histories with ", WithThousands(index.events()),
      " events of ", WithThousands(index.item_count()), " items to ", index.files_size(), " files in ",
      options.folder,
      exported->kept > 0 ? absl::StrCat(" (", exported->kept, " of them were there already)") : ""));
  return kDone;
}

}  // namespace
}  // namespace export_examples_command

void AddExportExamples(CLI::App* group, Run* run) {
  using namespace export_examples_command;
  CLI::App* command = AddCommand(
      group, "examples",
      "Training shards for waymark-train: each user's history, packed, not encrypted; erasing a user does "
      "not reach them",
      "  waymark export examples shards --data DIR\n"
      "  waymark-train --shards shards --package retriever-1");
  auto options = std::make_shared<Options>();
  AddTargetOptions(command, &options->target);
  command->add_option("folder", options->folder, "made when it is not there; a stopped export goes on")
      ->required()
      ->type_name("FOLDER");
  command->add_option("--files", options->examples.files, "at least as many as there will be ranks")
      ->check(CLI::Range(1, 99999))
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--compress", options->compress, "none, gzip or zstd")
      ->check(CLI::IsMember({"none", "gzip", "zstd"}))
      ->capture_default_str()
      ->type_name("HOW");
  command
      ->add_option("--held-out", options->examples.held_out, "newest events of each user that only validate")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--leave-out", options->examples.left_out, "newest events of each user that stay out")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--threads", options->threads, "0: every core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str()
      ->type_name("N");
  command->callback([=] { *run = [options] { return RunExportExamples(*options); }; });
}

}  // namespace waymark
