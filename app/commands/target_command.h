// A command that works on a data folder, or through its server: it opens what --data or --server name, then
// acts.
//
//   CLI::App* list = AddTargetCommand(group, run, "list", "Every slot", "  waymark slot list --data DIR",
//   options,
//                                     Access::kRead, List);
#pragma once
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "app/commands/commands.h"
#include "app/exit.h"
#include "app/target.h"

namespace waymark {

// `Options` has a Target `target`; commands of one group share one.
template <class Options>
CLI::App* AddTargetCommand(CLI::App* group, Run* run, const std::string& name, const std::string& description,
                           const std::string& example, const std::shared_ptr<Options>& options, Access access,
                           int (*act)(const Options&, Backend*)) {
  CLI::App* command = AddCommand(group, name, description, example);
  AddTargetOptions(command, &options->target);
  command->callback([=] {
    *run = [=] {
      auto backend = OpenTarget(options->target, access);
      return backend.ok() ? act(*options, backend->get()) : Fail(backend.status());
    };
  });
  return command;
}

}  // namespace waymark
