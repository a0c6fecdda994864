#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "app/commands/commands.h"
#include "app/event_message.h"
#include "app/exit.h"
#include "app/json_output.h"
#include "app/option_checks.h"
#include "app/progress.h"
#include "app/served_export.h"
#include "app/stop_signal.h"
#include "app/target.h"
#include "store/rows/flat_row.h"
#include "store/rows/json_struct.h"
#include "store/rows/row_writer.h"
#include "waymark/v1/user.pb.h"

namespace waymark {
namespace export_command {
namespace {

struct Options {
  Target target;
  std::string file;
  std::string reward = "click";  // of decisions
  double within_hours = 24;      // of decisions
};

using LineSink = std::function<absl::Status(const std::string& line)>;

absl::Status ExportUsers(Backend* backend, const std::string& parent, const LineSink& sink) {
  v1::ListUsersRequest request;
  request.set_parent(parent);
  request.set_page_size(1000);
  do {
    v1::ListUsersResponse page;
    if (auto status = backend->Call("waymark.v1.UserService.ListUsers", request, &page); !status.ok())
      return status;
    for (const v1::User& user : page.users()) {
      if (auto status = sink(ItemRow(user.id(), user.fields())); !status.ok()) return status;
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return absl::OkStatus();
}

// What is said beside the number of rows: empty, or «; ...».
std::string NoteOf(const DecisionCounts& counts) {
  if (counts.lists == 0) return "; no feed has explored: ask for feeds with --explore (`exploration`)";
  if (counts.younger == 0) return "";
  return absl::StrCat("; ", WithThousands(counts.younger), " of ", WithThousands(counts.lists),
                      " lists are left out, whose --within is not over");
}

absl::Status Export(const std::string& what, Backend* backend, const Options& options, const LineSink& sink,
                    std::string* note) {
  const Target& target = options.target;
  if (what == "items") {
    v1::ExportItemsRequest request;
    request.set_parent(Parent(target));
    return backend->ExportItems(
        request, [&](const v1::Item& item) { return sink(ItemRow(item.id(), item.fields())); });
  }
  if (what == "events") {
    v1::ExportEventsRequest request;
    request.set_parent(Parent(target));
    return backend->ExportEvents(request,
                                 [&](const v1::Event& event) { return sink(EventRow(FromMessage(event))); });
  }
  if (what == "users") return ExportUsers(backend, Parent(target), sink);
  if (what == "decisions") {
    auto counts = ExportDecisions(backend, target.data, {target.tenant, target.collection},
                                  {options.reward, absl::Hours(options.within_hours)}, sink);
    if (counts.ok()) *note = NoteOf(*counts);
    return counts.status();
  }
  return ExportServed(backend, target.data, {target.tenant, target.collection}, sink);
}

int RunExport(const Options& options, const std::string& what) {
  if (options.file == "-" && options.target.json)
    return FailUsage("--json and FILE - both write to standard output");
  auto backend = OpenTarget(options.target, Access::kRead);
  if (!backend.ok()) return Fail(backend.status());
  auto writer = RowWriter::Open(options.file);
  if (!writer.ok()) return Fail(writer.status());
  StopSignal stop;
  Progress progress(absl::StrCat("export ", what));
  std::string note;
  const LineSink sink = [&](const std::string& line) -> absl::Status {
    if (stop.Requested()) return absl::CancelledError("stopped; nothing is left of the file");
    progress.Update({.done = (*writer)->lines(), .unit = "rows", .fraction = {}, .note = {}});
    return (*writer)->WriteLine(line);
  };
  auto status = Export(what, backend->get(), options, sink, &note);
  if (status.ok()) status = (*writer)->Close();
  progress.Finish();
  if (!status.ok()) return Fail(status);
  if (options.target.json) {
    nlohmann::json out{{"rows", (*writer)->lines()}};
    if (note.size() > 2) out["note"] = note.substr(2);
    return PrintJson(out.dump(2));
  }
  Say(absl::StrCat("wrote ", WithThousands((*writer)->lines()), " rows",
                   options.file == "-" ? "" : absl::StrCat(" to ", options.file), note));
  return kDone;
}

void AddKind(CLI::App* parent, Run* run, const std::string& what, const std::string& description,
             const std::string& example) {
  CLI::App* command = AddCommand(parent, what, description, example);
  auto options = std::make_shared<Options>();
  AddTargetOptions(command, &options->target);
  command->add_option("file", options->file, "JSONL; .gz and .zst are packed; - is standard output")
      ->required()
      ->type_name("FILE");
  if (what == "decisions") {
    command->add_option("--reward", options->reward, "the event type that rewards a place")
        ->capture_default_str()
        ->type_name("TYPE");
    command
        ->add_option("--within", options->within_hours,
                     "hours that an event may come after its list; lists that are younger are left out")
        ->check(OverZero())
        ->capture_default_str()
        ->type_name("HOURS");
  }
  command->callback([=] { *run = [options, what] { return RunExport(*options, what); }; });
}

}  // namespace
}  // namespace export_command

void AddExport(CLI::App* app, Run* run) {
  using namespace export_command;
  CLI::App* group =
      AddCommandGroup(app, "export", "Write items, users, events, served lists or training shards",
                      "  waymark export items items.jsonl.zst --data DIR");
  AddKind(group, run, "items", "Every item with its fields",
          "  waymark export items items.jsonl.zst --data DIR");
  AddKind(group, run, "users", "Every user with its attributes",
          "  waymark export users - --data DIR | head");
  AddKind(group, run, "events", "Every event, in the order in which it was written",
          "  waymark export events events.jsonl.gz --data DIR");
  AddKind(group, run, "served", "The lists that were served, oldest first",
          "  waymark export served served.jsonl --data DIR");
  AddKind(group, run, "decisions",
          "The places of feeds that explored, with their chances and what they earned",
          "  waymark export decisions decisions.jsonl --reward click --data DIR\n"
          "  waymark experiment offpolicy --file decisions.jsonl --reward reward --propensity propensity "
          "--policy as_ranked");
  AddExportExamples(group, run);
  AddExportLists(group, run);
}

}  // namespace waymark
