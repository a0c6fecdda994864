#include "app/command_line.h"

#include <CLI/CLI.hpp>

#include "app/commands/commands.h"
#include "app/exit.h"

namespace waymark {

int RunCommandLine(int argc, char** argv) {
  CLI::App app("Waymark: search and recommendations from one engine", "waymark");
  app.require_subcommand(1);
  app.set_version_flag("--version", WAYMARK_VERSION);
  app.footer(
      "Example:\n  waymark import items movies.csv --data DIR --id-column movieId\n"
      "  waymark serve --data DIR\n"
      "  waymark search 'star wars' --data DIR\n\n"
      "`waymark COMMAND --help` shows the options of a command with an example.\n"
      "Exit codes: 0 done, 1 failed, 2 wrong usage.");
  Run run;
  AddServe(&app, &run);
  AddImport(&app, &run);
  AddExport(&app, &run);
  AddSearch(&app, &run);
  AddRecommend(&app, &run);
  AddTrain(&app, &run);
  AddEvaluate(&app, &run);
  AddModel(&app, &run);
  AddRelease(&app, &run);
  AddStatus(&app, &run);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error, std::cout, std::cerr);  // prints help, or what is wrong
    return code == 0 ? kDone : kWrongUsage;
  }
  if (!run) return FailUsage("no command was given; waymark --help lists them");
  return run();
}

}  // namespace waymark
