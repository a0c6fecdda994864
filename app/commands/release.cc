#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "app/commands/target_command.h"
#include "app/exit.h"
#include "app/json_output.h"
#include "app/text_table.h"
#include "store/rows/row_time.h"
#include "waymark/v1/release.pb.h"

namespace waymark {
namespace release_command {
namespace {

struct Options {
  Target target;
  std::string id, retriever, ranker, note, reason;
  std::vector<std::string> sources;
  bool activate = false;
  std::string override_reason;
  std::optional<double> max_drop;
  bool dry_run = false;
};

int Activate(const Options& options, const std::string& id, Backend* backend, v1::Release* release) {
  v1::ActivateReleaseRequest request;
  request.set_parent(Parent(options.target));
  request.set_id(id);
  request.set_reason(options.reason);
  request.set_override_reason(options.override_reason);
  if (options.max_drop) request.set_max_metric_drop(*options.max_drop);
  request.set_validate_only(options.dry_run);
  auto status = backend->Call("waymark.v1.ReleaseService.ActivateRelease", request, release);
  return status.ok() ? kDone : Fail(status);
}

int Print(const Options& options, const v1::Release& release) {
  if (options.target.json) return PrintJson(release);
  std::printf("release %s: retriever %s, ranker %s%s\n", release.id().c_str(),
              release.retriever_version().empty() ? "none" : release.retriever_version().c_str(),
              release.ranker_version().empty() ? "weighted-sum" : release.ranker_version().c_str(),
              release.active() ? ", active" : "");
  for (const v1::Release::Check& check : release.checks()) {
    std::printf("  %s %s: %s\n", check.holds() ? "holds" : "FAILS", check.name().c_str(),
                check.detail().c_str());
  }
  return kDone;
}

// «name:limit:weight»; limit and weight may be left out.
absl::Status AddSource(const std::string& text, v1::CreateReleaseRequest* request) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  v1::Release::Source* source = request->add_sources();
  source->set_name(parts[0]);
  int32_t limit = 0;
  double weight = 1;
  const bool good = parts.size() <= 3 && !parts[0].empty() &&
                    (parts.size() < 2 || absl::SimpleAtoi(parts[1], &limit)) &&
                    (parts.size() < 3 || absl::SimpleAtod(parts[2], &weight));
  if (!good)
    return absl::InvalidArgumentError(absl::StrCat("--source: '", text, "' is not NAME[:LIMIT[:WEIGHT]]"));
  source->set_limit(limit);
  source->set_weight(weight);
  return absl::OkStatus();
}

int Create(const Options& options, Backend* backend) {
  v1::CreateReleaseRequest request;
  request.set_parent(Parent(options.target));
  request.set_id(options.id);
  request.set_retriever_version(options.retriever);
  request.set_ranker_version(options.ranker);
  request.set_note(options.note);
  for (const std::string& source : options.sources) {
    if (auto status = AddSource(source, &request); !status.ok())
      return FailUsage(std::string(status.message()));
  }
  v1::Release release;
  auto status = backend->Call("waymark.v1.ReleaseService.CreateRelease", request, &release);
  if (!status.ok()) return Fail(status);
  if (options.activate) {
    const std::string id = release.id();
    if (const int code = Activate(options, id, backend, &release); code != kDone) {
      Say(absl::StrCat("The release '", id, "' is there, and is not active."));
      return code;
    }
  }
  return Print(options, release);
}

int List(const Options& options, Backend* backend) {
  v1::ListReleasesRequest request;
  request.set_parent(Parent(options.target));
  v1::ListReleasesResponse response;
  auto status = backend->Call("waymark.v1.ReleaseService.ListReleases", request, &response);
  if (!status.ok()) return Fail(status);
  if (options.target.json) return PrintJson(response);
  TextTable table({{"release", TextTable::kWhole},
                   {"active", TextTable::kWhole},
                   {"retriever", TextTable::kWhole},
                   {"ranker", TextTable::kWhole},
                   {"made", TextTable::kWhole},
                   {"note", TextTable::kText}});
  for (const v1::Release& release : response.releases()) {
    table.Add({release.id(), release.active() ? "yes" : "", release.retriever_version(),
               release.ranker_version(),
               FormatRowTime(absl::FromUnixSeconds(release.create_time().seconds())), release.note()});
  }
  std::fputs(response.releases().empty() ? "no releases: a weighted sum serves\n"
                                         : table.Render(TerminalWidth()).c_str(),
             stdout);
  return kDone;
}

int ActivateAndPrint(const Options& options, Backend* backend) {
  v1::Release release;
  int code = Activate(options, options.id, backend, &release);
  if (code == kDone) code = Print(options, release);
  if (code != kDone || !options.dry_run || !options.override_reason.empty()) return code;
  // So that a script can ask.
  for (const v1::Release::Check& check : release.checks()) {
    if (!check.holds()) return kFailed;
  }
  return code;
}

int Rollback(const Options& options, Backend* backend) {
  v1::RollbackReleaseRequest request;
  request.set_parent(Parent(options.target));
  request.set_reason(options.reason);
  v1::RollbackReleaseResponse response;
  auto status = backend->Call("waymark.v1.ReleaseService.RollbackRelease", request, &response);
  if (!status.ok()) return Fail(status);
  if (options.target.json) return PrintJson(response);
  std::printf("%s\n", response.active_release().empty()
                          ? "no release is active: a weighted sum serves"
                          : absl::StrCat("release ", response.active_release(), " is active again").c_str());
  return kDone;
}

}  // namespace
}  // namespace release_command

void AddRelease(CLI::App* app, Run* run) {
  using namespace release_command;
  CLI::App* group = AddCommandGroup(app, "release", "Releases: create, list, activate, rollback",
                                    "  waymark release create --retriever v1 --ranker v1 --data DIR");
  auto options = std::make_shared<Options>();
  CLI::App* create =
      AddTargetCommand(group, run, "create", "Put a retriever, a ranker and a blending plan together",
                       "  waymark release create --retriever v1 --ranker v1 --activate --data DIR", options,
                       Access::kWrite, Create);
  create->add_option("--id", options->id, "its name; made up when left out")->type_name("ID");
  create->add_option("--retriever", options->retriever, "version of the retriever")->type_name("VERSION");
  create->add_option("--ranker", options->ranker, "version of the ranker; none: a weighted sum")
      ->type_name("VERSION");
  create->add_option("--note", options->note, "for people")->type_name("TEXT");
  create
      ->add_option("--source", options->sources,
                   "a source, how deep and with what weight; none: the default plan")
      ->type_name("NAME[:LIMIT[:WEIGHT]]")
      ->allow_extra_args(false);
  CLI::Option* activated = create->add_flag("--activate", options->activate, "serve it to everybody at once");
  AddTargetCommand(group, run, "list", "Every release", "  waymark release list --data DIR", options,
                   Access::kRead, List);
  CLI::App* activate =
      AddTargetCommand(group, run, "activate", "Serve a release to everybody from the next request on",
                       "  waymark release activate r2 --reason 'better nDCG' --data DIR", options,
                       Access::kWrite, ActivateAndPrint);
  activate->add_option("id", options->id, "the release")->required()->type_name("ID");
  activate->add_flag("--dry-run", options->dry_run, "check it, and activate nothing");
  for (CLI::App* command : {create, activate}) {
    command
        ->add_option("--override", options->override_reason,
                     "why worse offline metrics, or what its shadow said, are set aside; recorded")
        ->type_name("REASON");
    command
        ->add_option("--max-drop", options->max_drop,
                     "by what share an offline metric may be worse than the active release's (else .2)")
        ->check(CLI::Range(0.0, 1.0))
        ->type_name("SHARE");
  }
  CLI::App* rollback = AddTargetCommand(
      group, run, "rollback", "Go back to the release that was active before",
      "  waymark release rollback --reason 'worse clicks' --data DIR", options, Access::kWrite, Rollback);
  for (CLI::App* command : {create, activate, rollback}) {
    command->add_option("--reason", options->reason, "kept with the activation")->type_name("TEXT");
  }
  // What an activation takes says nothing where none is made.
  for (const char* option : {"--override", "--max-drop", "--reason"})
    create->get_option(option)->needs(activated);
}

}  // namespace waymark
