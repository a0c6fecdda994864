#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "app/waymark_train/arguments.h"
#include "app/waymark_train/local_ranks.h"
#include "app/waymark_train/run_rank.h"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a rank that has gone is an error with a message, not an end without one
  // LibTorch's own lines of ranks that do not come or have gone, with their stacks, say less than ours.
  setenv("TORCH_CPP_LOG_LEVEL", "FATAL", 0);
  CLI::App app("waymark-train: trains a retriever or a ranker on training shards, on one process or many",
               "waymark-train");
  app.set_version_flag("--program-version", WAYMARK_VERSION);
  waymark::TrainArguments arguments;
  waymark::AddTrainArguments(&app, &arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, std::cout, std::cerr) == 0 ? 0 : 2;
  }
  waymark::FinishTrainArguments(&arguments);
  arguments.job.program_version = WAYMARK_VERSION;
  if (arguments.processes > 0) {
    if (const std::string other = waymark::OtherLauncher(arguments); !other.empty()) {
      std::cerr << "waymark-train: --processes starts the ranks itself, and " << other
                << "; drop one of the two\n";
      return 2;
    }
  }
  const auto run = [&arguments] { return waymark::RunRank(arguments); };
  // The others have the timeout to notice a rank that has gone, and some time for what they say.
  const int code = arguments.processes > 1
                       ? waymark::RunLocalRanks(arguments.processes, 2 * arguments.timeout_s + 20, run)
                       : run();
  std::fflush(nullptr);
  // A failed run does not go through destructors: a process group whose ranks have gone may wait for them.
  if (code != 0) std::_Exit(code);
  return 0;
}
