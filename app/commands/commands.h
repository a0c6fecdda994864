// Every command of the command line, one file each. A command declares its options, and says what to run once
// they have been read.
#pragma once
#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace waymark {

// What the command line has chosen; answers the exit code.
using Run = std::function<int()>;

// A subcommand whose help ends with `example`.
CLI::App* AddCommand(CLI::App* parent, const std::string& name, const std::string& description,
                     const std::string& example);
// A subcommand that has subcommands of its own.
CLI::App* AddCommandGroup(CLI::App* parent, const std::string& name, const std::string& description,
                          const std::string& example);

void AddServe(CLI::App* app, Run* run);
void AddImport(CLI::App* app, Run* run);
void AddExport(CLI::App* app, Run* run);
void AddExportExamples(CLI::App* group, Run* run);  // of `export`
void AddExportKeys(CLI::App* group, Run* run);      // of `export`
void AddExportLists(CLI::App* group, Run* run);     // of `export`
void AddSearch(CLI::App* app, Run* run);
void AddSuggest(CLI::App* app, Run* run);
void AddRecommend(CLI::App* app, Run* run);
void AddTrain(CLI::App* app, Run* run);
void AddEvaluate(CLI::App* app, Run* run);
void AddRankerEvaluation(CLI::App* group, Run* run);  // of `evaluate`
void AddFederate(CLI::App* app, Run* run);
void AddFederateCoordinator(CLI::App* group, Run* run);  // of `federate`
void AddFederateSite(CLI::App* group, Run* run);         // of `federate`
void AddModel(CLI::App* app, Run* run);
void AddRelease(CLI::App* app, Run* run);
void AddCuration(CLI::App* app, Run* run);
void AddExperiment(CLI::App* app, Run* run);
void AddExperimentLayer(CLI::App* group, Run* run);      // of `experiment`
void AddExperimentOffPolicy(CLI::App* group, Run* run);  // of `experiment`
void AddExperimentPower(CLI::App* group, Run* run);      // of `experiment`
void AddSlot(CLI::App* app, Run* run);
void AddQueries(CLI::App* app, Run* run);
void AddStatus(CLI::App* app, Run* run);
void AddCheck(CLI::App* app, Run* run);

}  // namespace waymark
