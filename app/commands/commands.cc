#include "app/commands/commands.h"

#include <CLI/CLI.hpp>

namespace waymark {

CLI::App* AddCommand(CLI::App* parent, const std::string& name, const std::string& description,
                     const std::string& example) {
  CLI::App* command = parent->add_subcommand(name, description);
  command->footer("Example:\n" + example);
  return command;
}

CLI::App* AddCommandGroup(CLI::App* parent, const std::string& name, const std::string& description,
                          const std::string& example) {
  CLI::App* group = AddCommand(parent, name, description, example);
  group->require_subcommand(1);
  return group;
}

}  // namespace waymark
