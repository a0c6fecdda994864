#include "training/shards/export_keys.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "app/commands/commands.h"
#include "app/data_copy.h"
#include "app/exit.h"
#include "app/json_output.h"
#include "app/option_checks.h"
#include "app/progress.h"
#include "app/target.h"

namespace waymark {
namespace export_keys_command {
namespace {

struct Options {
  Target target;
  std::string shards, file;
  double hours = 24;
};

int RunExportKeys(const Options& options) {
  if (options.target.data.empty()) return FailUsage("keys come from the data folder: say --data DIR");
  auto backend = OpenTarget(options.target, Access::kRead);
  if (!backend.ok()) return Fail(backend.status());
  auto copy = DataCopy::Make(backend->get(), options.target.data);
  if (!copy.ok()) return Fail(copy.status());
  auto store = Store::Open((*copy)->folder(), {.create = false, .read_only = true});
  if (!store.ok()) return Fail(store.status());
  auto scope = (*store)->FindCollection({options.target.tenant, options.target.collection});
  if (!scope.ok()) return Fail(scope.status());
  ExportKeysOptions keys;
  keys.shards = options.shards;
  keys.file = options.file;
  keys.valid_for = absl::Hours(options.hours);
  auto made = ExportKeys({store->get(), *scope}, keys);
  if (!made.ok()) return Fail(made.status());
  const std::string until = absl::FormatTime(absl::RFC3339_sec, made->expires, absl::UTCTimeZone());
  if (options.target.json) {
    return PrintJson(nlohmann::json({{"users", made->users},
                                     {"erased_users", made->erased_users},
                                     {"erased_records", made->erased_records},
                                     {"expire_time", until}})
                         .dump(2));
  }
  Say(absl::StrCat("wrote the keys of ", WithThousands(made->users), " users to ", options.file,
                   ", good until ", until, "; erased since: ", WithThousands(made->erased_users),
                   " users, with ", WithThousands(made->erased_records), " records"));
  return kDone;
}

}  // namespace
}  // namespace export_keys_command

void AddExportKeys(CLI::App* group, Run* run) {
  using namespace export_keys_command;
  CLI::App* command = AddCommand(
      group, "keys",
      "The keys that open training shards, for a while: users that were erased since have none any more",
      "  waymark export keys shards keys-1 --hours 12 --data DIR\n"
      "  waymark-train --shards shards --keys keys-1 --package retriever-1");
  auto options = std::make_shared<Options>();
  AddTargetOptions(command, &options->target);
  command->add_option("shards", options->shards, "the folder that `waymark export` wrote from this data")
      ->required()
      ->type_name("FOLDER");
  command->add_option("file", options->file, "the key bundle; only its owner may read it")
      ->required()
      ->type_name("FILE");
  command->add_option("--hours", options->hours, "that a training may begin with it")
      ->check(OverZero())
      ->capture_default_str()
      ->type_name("HOURS");
  command->callback([=] { *run = [options] { return RunExportKeys(*options); }; });
}

}  // namespace waymark
