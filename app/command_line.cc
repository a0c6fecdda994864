#include "app/command_line.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "app/commands/commands.h"
#include "app/exit.h"

namespace waymark {

namespace {

// CLI11 says of an unknown command only that one is required. Names what was given, and those that there are.
std::string WrongCommand(const CLI::App& app, int argc, char** argv) {
  const CLI::App* parent = &app;
  for (int i = 1; parent->get_require_subcommand_min() > 0; ++i) {
    const std::string given = i < argc ? argv[i] : "";
    if (absl::StartsWith(given, "-")) return "";
    const auto commands = parent->get_subcommands([](const CLI::App*) { return true; });
    const CLI::App* found = nullptr;
    std::string names;
    for (const CLI::App* command : commands) {
      if (command->get_name() == given) found = command;
      absl::StrAppend(&names, names.empty() ? "" : ", ", command->get_name());
    }
    if (found == nullptr) {
      return absl::StrCat(
          given.empty() ? "no command was given" : absl::StrCat("there is no command '", given, "'"), "; `",
          parent == &app ? "waymark" : absl::StrCat("waymark ", parent->get_name()), "` takes ", names);
    }
    parent = found;
  }
  return "";
}

// CLI11 says "Could not convert: --limit = abc", and not what the option takes.
std::string WrongValue(const CLI::App& app, const CLI::ConversionError& error) {
  const std::string kBefore = "Could not convert: ";
  const std::string text = error.what();
  const size_t equals = text.find(" = ");
  if (!absl::StartsWith(text, kBefore) || equals == std::string::npos) return "";
  const std::string name = text.substr(kBefore.size(), equals - kBefore.size());
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  const CLI::Option* option = command->get_option_no_throw(name);
  if (option == nullptr) return "";
  const bool whole = !absl::StrContains(option->get_type_name(), "FLOAT");
  return absl::StrCat(name, " takes ", whole ? "a whole number" : "a number", ", and not '",
                      text.substr(equals + 3), "'");
}

// Results that could not be written (a full disk, a closed pipe) are no success, whichever way a command
// prints.
int WithOutputWritten(int code) {
  std::cout.flush();
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  if (code != kDone || written) return code;
  return Fail(absl::UnavailableError("cannot write to standard output"));
}

}  // namespace

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
  AddSuggest(&app, &run);
  AddRecommend(&app, &run);
  AddTrain(&app, &run);
  AddFederate(&app, &run);
  AddEvaluate(&app, &run);
  AddModel(&app, &run);
  AddRelease(&app, &run);
  AddCuration(&app, &run);
  AddExperiment(&app, &run);
  AddSlot(&app, &run);
  AddQueries(&app, &run);
  AddStatus(&app, &run);
  AddCheck(&app, &run);
  if (const std::string wrong = WrongCommand(app, argc, argv); !wrong.empty()) return FailUsage(wrong);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (const auto* conversion = dynamic_cast<const CLI::ConversionError*>(&error)) {
      if (const std::string wrong = WrongValue(app, *conversion); !wrong.empty()) return FailUsage(wrong);
    }
    const int code = app.exit(error, std::cout, std::cerr);  // prints help, or what is wrong
    return WithOutputWritten(code == 0 ? kDone : kWrongUsage);
  }
  return WithOutputWritten(run());
}

}  // namespace waymark
