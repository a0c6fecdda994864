#include <CLI/CLI.hpp>

#include "app/commands/commands.h"

namespace waymark {

void AddFederate(CLI::App* app, Run* run) {
  CLI::App* group = AddCommandGroup(
      app, "federate", "Train a retriever over several sites whose events stay where they are",
      "  waymark federate coordinator --listen :7800 --state federation --ca ca.pem --cert coordinator.pem "
      "--key coordinator.key\n"
      "  waymark federate site --data DIR --coordinator host:7800 --ca ca.pem --cert north.pem --key "
      "north.key");
  AddFederateCoordinator(group, run);
  AddFederateSite(group, run);
}

}  // namespace waymark
