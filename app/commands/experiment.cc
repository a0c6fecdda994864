#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "app/commands/target_command.h"
#include "app/decision_options.h"
#include "app/exit.h"
#include "app/experiment_html.h"
#include "app/experiment_options.h"
#include "app/experiment_text.h"
#include "app/json_output.h"
#include "app/text_table.h"
#include "store/rows/row_time.h"
#include "waymark/v1/experiment.pb.h"

namespace waymark {
namespace experiment_command {
namespace {

constexpr char kService[] = "waymark.v1.ExperimentService.";

struct Options {
  Target target;
  ExperimentOptions experiment;
  std::string id, by, reason, override_reason, winner;
  double coverage = 0;
  bool roll_back = false, end = false, shadow = false, dry_run = false;
  std::string html, page_token;
  int page_size = 0;
};

// What every decision says.
template <class Request>
Request DecisionOf(const Options& options) {
  Request request;
  request.set_parent(Parent(options.target));
  request.set_id(options.id);
  request.set_by(WhoDecides(options.by));
  request.set_reason(options.reason);
  return request;
}

int CallAndPrint(const Options& options, Backend* backend, const std::string& method,
                 const google::protobuf::Message& request) {
  v1::Experiment experiment;
  auto status = backend->Call(kService + method, request, &experiment);
  if (!status.ok()) return Fail(status);
  if (options.target.json) return PrintJson(experiment);
  std::fputs(ExperimentText(experiment).c_str(), stdout);
  return kDone;
}

int Create(const Options& options, Backend* backend) {
  auto experiment = ExperimentOf(options.experiment);
  if (!experiment.ok()) return FailUsage(std::string(experiment.status().message()));
  v1::CreateExperimentRequest request;
  request.set_parent(Parent(options.target));
  request.set_by(WhoDecides(options.by));
  *request.mutable_experiment() = *std::move(experiment);
  return CallAndPrint(options, backend, "CreateExperiment", request);
}

int Start(const Options& options, Backend* backend) {
  auto request = DecisionOf<v1::StartExperimentRequest>(options);
  request.set_shadow(options.shadow);
  return CallAndPrint(options, backend, "StartExperiment", request);
}

int Ramp(const Options& options, Backend* backend) {
  auto request = DecisionOf<v1::RampExperimentRequest>(options);
  request.set_coverage(options.coverage);
  request.set_override_reason(options.override_reason);
  return CallAndPrint(options, backend, "RampExperiment", request);
}

int Stop(const Options& options, Backend* backend) {
  auto request = DecisionOf<v1::StopExperimentRequest>(options);
  if (!options.winner.empty() + options.roll_back + options.end != 1)
    return FailUsage("stop takes one of --winner ARM, --roll-back and --end");
  request.set_outcome(options.roll_back ? v1::StopExperimentRequest::ROLL_BACK
                      : options.end     ? v1::StopExperimentRequest::END
                                        : v1::StopExperimentRequest::RELEASE);
  request.set_winner(options.winner);
  request.set_override_reason(options.override_reason);
  return CallAndPrint(options, backend, "StopExperiment", request);
}

int List(const Options& options, Backend* backend) {
  v1::ListExperimentsRequest request;
  request.set_parent(Parent(options.target));
  request.set_page_size(options.page_size);
  request.set_page_token(options.page_token);
  v1::ListExperimentsResponse response;
  auto status = backend->Call(absl::StrCat(kService, "ListExperiments"), request, &response);
  if (!status.ok()) return Fail(status);
  if (options.target.json) return PrintJson(response);
  TextTable table({{"experiment", TextTable::kWhole},
                   {"state", TextTable::kWhole},
                   {"coverage", TextTable::kRight},
                   {"winner", TextTable::kWhole},
                   {"since", TextTable::kWhole},
                   {"hypothesis", TextTable::kText}});
  for (const v1::Experiment& experiment : response.experiments()) {
    table.Add({experiment.id(), StateText(experiment.state()),
               absl::StrFormat("%g%%", 100 * experiment.coverage()), experiment.winner(),
               FormatRowTime(absl::FromUnixSeconds(experiment.state_time().seconds())),
               experiment.hypothesis()});
  }
  std::fputs(response.experiments().empty() ? "no experiments\n" : table.Render(TerminalWidth()).c_str(),
             stdout);
  if (!response.next_page_token().empty())
    std::printf("more: --page-token %s\n", response.next_page_token().c_str());
  return kDone;
}

int Decide(const Options& options, Backend* backend) {
  auto request = DecisionOf<v1::DecideExperimentRequest>(options);
  request.set_validate_only(options.dry_run);
  v1::DecideExperimentResponse response;
  auto status = backend->Call(absl::StrCat(kService, "DecideExperiment"), request, &response);
  if (!status.ok()) return Fail(status);
  if (options.target.json) return PrintJson(response);
  if (response.action().empty()) {
    std::printf("nothing is to be decided yet\n");
  } else {
    std::printf("%s%s: %s\n", options.dry_run ? "would decide: " : "", response.action().c_str(),
                response.reason().c_str());
  }
  for (const std::string& missing : response.missing())
    std::printf("  missing for the %s\n", missing.c_str());
  std::fputs(ExperimentText(response.experiment()).c_str(), stdout);
  return kDone;
}

// Beside the file, then in its place: who looks never sees half a page.
absl::Status WriteFile(const std::string& path, const std::string& text) {
  const std::string beside = path + ".new";
  std::ofstream out(beside, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(beside, path, error);
  if (out && !error) return absl::OkStatus();
  std::error_code ignored;
  std::filesystem::remove(beside, ignored);
  return absl::UnavailableError(absl::StrCat("--html: '", path, "' cannot be written"));
}

int Report(const Options& options, Backend* backend) {
  v1::ReportExperimentRequest request;
  request.set_parent(Parent(options.target));
  request.set_id(options.id);
  v1::ExperimentReport report;
  auto status = backend->Call(absl::StrCat(kService, "ReportExperiment"), request, &report);
  if (!status.ok()) return Fail(status);
  if (!options.html.empty()) {
    v1::GetExperimentRequest get;
    get.set_parent(Parent(options.target));
    get.set_id(options.id);
    v1::Experiment experiment;
    status = backend->Call(absl::StrCat(kService, "GetExperiment"), get, &experiment);
    if (!status.ok()) return Fail(status);
    if (status = WriteFile(options.html, ExperimentReportHtml(experiment, report)); !status.ok())
      return Fail(status);
    Say(absl::StrCat("wrote ", options.html));
    if (!options.target.json) return kDone;
  }
  if (options.target.json) return PrintJson(report);
  std::fputs(ExperimentReportText(report).c_str(), stdout);
  return kDone;
}

}  // namespace
}  // namespace experiment_command

void AddExperiment(CLI::App* app, Run* run) {
  using namespace experiment_command;
  CLI::App* group = AddCommandGroup(
      app, "experiment",
      "A/B tests of releases and content: create, start, ramp, decide, stop, list, report, ...",
      "  waymark experiment report ranker-7 --data DIR");
  auto options = std::make_shared<Options>();
  CLI::App* create =
      AddTargetCommand(group, run, "create", "Write down what is compared; nobody sees it yet",
                       "  waymark experiment create --id ranker-7 --arm control=r1 --arm new=r2 "
                       "--event click --hypothesis 'more clicks' --data DIR",
                       options, Access::kWrite, Create);
  AddExperimentOptions(create, &options->experiment);
  CLI::App* start =
      AddTargetCommand(group, run, "start", "Show it to the first units; freezes what is measured",
                       "  waymark experiment start ranker-7 --data DIR", options, Access::kWrite, Start);
  start->add_flag("--shadow", options->shadow,
                  "first score copies of the traffic, and answer nobody, until it is ramped");
  CLI::App* ramp =
      AddTargetCommand(group, run, "ramp", "Take more of the traffic in, when the conditions hold",
                       "  waymark experiment ramp ranker-7 --data DIR", options, Access::kWrite, Ramp);
  ramp->add_option("--coverage", options->coverage, "share of the traffic, up to 1; none: the next step")
      ->check(CLI::Range(1e-6, 1.0))
      ->type_name("SHARE");
  CLI::App* stop = AddTargetCommand(
      group, run, "stop", "Release a winner to everybody, roll back, or just end",
      "  waymark experiment stop ranker-7 --winner new --data DIR", options, Access::kWrite, Stop);
  stop->add_option("--winner", options->winner, "release this arm to everybody")->type_name("ARM");
  stop->add_flag("--roll-back", options->roll_back,
                 "end it; a winner that was released gives way to the control");
  stop->add_flag("--end", options->end, "end it without either");
  CLI::App* decide = AddTargetCommand(
      group, run, "decide", "Make the decision that the figures call for, or say what is missing for one",
      "  waymark experiment decide ranker-7 --dry-run --data DIR", options, Access::kWrite, Decide);
  decide->add_flag("--dry-run", options->dry_run, "say what would be decided");
  CLI::App* list = AddTargetCommand(group, run, "list", "Every experiment",
                                    "  waymark experiment list --data DIR", options, Access::kRead, List);
  list->add_option("-n,--limit", options->page_size, "entries of the page (at most 1,000)")->type_name("N");
  list->add_option("--page-token", options->page_token, "the page after the one that named it")
      ->type_name("TOKEN");
  CLI::App* report = AddTargetCommand(group, run, "report", "What an experiment has shown so far",
                                      "  waymark experiment report ranker-7 --html report.html --data DIR",
                                      options, Access::kRead, Report);
  report->add_option("--html", options->html, "a page with plots, that needs nothing beside it")
      ->type_name("FILE");
  AddExperimentLayer(group, run);
  AddExperimentOffPolicy(group, run);
  AddExperimentPower(group, run);
  for (CLI::App* command : {start, ramp, decide, stop, report}) {
    command->add_option("id", options->id, "the experiment")->required()->type_name("ID");
  }
  for (CLI::App* command : {create, start, ramp, decide, stop}) {
    AddByOption(command, &options->by);
  }
  for (CLI::App* command : {start, ramp, decide, stop}) {
    command->add_option("--reason", options->reason, "recorded with the decision")->type_name("TEXT");
  }
  for (CLI::App* command : {ramp, stop}) {
    command
        ->add_option("--override", options->override_reason, "why conditions that do not hold are set aside")
        ->type_name("REASON");
  }
}

}  // namespace waymark
