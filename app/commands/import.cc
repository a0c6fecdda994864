#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "app/commands/commands.h"
#include "app/exit.h"
#include "app/import_rows.h"
#include "app/json_output.h"
#include "app/option_checks.h"
#include "app/progress.h"
#include "app/stop_signal.h"
#include "app/target.h"

namespace waymark {
namespace import_command {
namespace {

struct Options {
  Target target;
  std::vector<std::string> files, maps, sets, drops;
  std::string id_column, format = "auto", separator;
  bool strict = false, update = false;
  int64_t skip_lines = 0;
};

absl::StatusOr<ImportPlan> MakePlan(const Options& options, RowKind kind) {
  ImportPlan plan;
  plan.files = options.files;
  plan.parent = Parent(options.target);
  plan.strict = options.strict;
  if (options.update) plan.items = ItemWriting::kUpdate;
  plan.rows.kind = kind;
  plan.rows.skip_lines = options.skip_lines;
  auto format = ParseRowFormat(options.format);
  if (!format.ok()) return format.status();
  plan.rows.format = *format;
  if (!options.separator.empty()) {
    const std::string separator = options.separator == "\\t" ? "\t" : options.separator;
    if (separator.size() != 1)
      return absl::InvalidArgumentError("--separator takes one character (\\t is a tab)");
    plan.rows.separator = separator[0];
  }
  for (const std::string& text : options.maps) {
    auto mapped = ParseMappedField(text);
    if (!mapped.ok()) return absl::InvalidArgumentError(absl::StrCat("--map: ", mapped.status().message()));
    plan.rows.mapping.fields.push_back(*std::move(mapped));
  }
  if (!options.id_column.empty()) {
    const char* field = kind == RowKind::kEvent ? "event_id" : "id";
    plan.rows.mapping.fields.push_back({field, options.id_column, {CellType::Kind::kText, ""}});
  }
  for (const std::string& text : options.sets) {
    auto constant = ParseConstant(text);
    if (!constant.ok())
      return absl::InvalidArgumentError(absl::StrCat("--set: ", constant.status().message()));
    plan.rows.mapping.constants.push_back(*std::move(constant));
  }
  plan.rows.mapping.dropped = options.drops;
  if (auto status = CheckMapping(plan.rows.mapping, kind); !status.ok()) return status;
  return plan;
}

int PrintReport(const ImportReport& report, const absl::Status& status, absl::Duration elapsed, bool json) {
  if (!json) {
    std::string text = absl::StrCat(WithThousands(report.written), " written");
    if (report.duplicates > 0)
      absl::StrAppend(&text, ", ", WithThousands(report.duplicates), " there already");
    if (report.refused > 0) absl::StrAppend(&text, ", ", WithThousands(report.refused), " refused");
    std::printf("%s (%s)\n", text.c_str(), ShortDuration(elapsed).c_str());
    return kDone;
  }
  nlohmann::json document = {{"written", report.written},
                             {"duplicates", report.duplicates},
                             {"refused", report.refused},
                             {"complete", status.ok()},
                             {"refusals", nlohmann::json::array()}};
  for (const auto& [file, refusal] : report.refusals) {
    document["refusals"].push_back({{"file", file}, {"line", refusal.line}, {"reason", refusal.reason}});
  }
  if (!status.ok()) {
    document["error"] = std::string(status.message());
    document["stopped_in"] = report.stopped_in;
    document["done_line"] = report.done_line;
  }
  return PrintJson(document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

int RunImport(const Options& options, RowKind kind) {
  auto plan = MakePlan(options, kind);
  if (!plan.ok()) return FailUsage(std::string(plan.status().message()));
  // First, so that a mistyped name leaves no data folder behind, and none of several files is read for
  // nothing.
  if (auto status = CheckFiles(*plan); !status.ok()) return Fail(status);
  auto backend = OpenTarget(options.target, Access::kCreate);
  if (!backend.ok()) return Fail(backend.status());
  StopSignal stop;
  const absl::Time start = absl::Now();
  ImportReport report;
  absl::Status status = ImportRows(
      *plan, backend->get(), [&stop] { return stop.Requested(); }, &report);
  if (report.written > 0) {
    auto settled = (*backend)->Settle();
    if (status.ok()) status = settled;
  }
  if (status.ok() && report.written == 0 && report.duplicates == 0 && report.refused > 0) {
    status = absl::InvalidArgumentError("every row was refused; nothing is written");
  }
  const bool nothing = report.written + report.duplicates + report.refused == 0;
  if (status.ok() || !nothing || options.target.json) {
    PrintReport(report, status, absl::Now() - start, options.target.json);
  }
  if (status.ok()) return kDone;
  if (!report.stopped_by_signal) Fail(status);
  if (report.stopped_in == "-" && report.done_line > 0) {
    Say(absl::StrCat(
        "Everything up to line ", report.done_line,
        " of standard input is done; the same command with the same input goes on from there with "
        "--skip-lines ",
        report.done_line));
  } else if (!report.stopped_in.empty() && report.done_line > 0) {
    Say(absl::StrCat("Everything up to line ", report.done_line, " of ", report.stopped_in,
                     " is done; the same command goes on from there with this file first and --skip-lines ",
                     report.done_line));
  }
  if (report.batch_unanswered) {
    Say("The rows that were on their way then may be written or not. Sent again, items, users and events "
        "with "
        "an event_id are not doubled; events without one would count twice.");
  }
  if (!report.unread.empty()) Say(absl::StrCat("Not read: ", absl::StrJoin(report.unread, ", ")));
  return kFailed;
}

void AddKind(CLI::App* parent, Run* run, const std::string& name, RowKind kind, const std::string& what,
             const std::string& example) {
  CLI::App* command = AddCommand(parent, name, what, example);
  auto options = std::make_shared<Options>();
  AddTargetOptions(command, &options->target);
  command
      ->add_option("files", options->files,
                   "JSONL, CSV, TSV or RecBole files, also .gz and .zst; - is standard input")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("-m,--map", options->maps,
                   "take FIELD from COLUMN; TYPE: text, integer, number, boolean, time, json, words, "
                   "numbers, point (52.5,13.4; of two columns FIELD=LATITUDE,LONGITUDE:point), "
                   "split(SEPARATOR)")
      ->type_name("FIELD=COLUMN[:TYPE]")
      ->allow_extra_args(false);
  command->add_option("--set", options->sets, "give every row this value")
      ->type_name("FIELD=VALUE")
      ->allow_extra_args(false);
  command->add_option("--drop", options->drops, "leave this column out")
      ->type_name("COLUMN")
      ->allow_extra_args(false);
  command->add_option("--id-column", options->id_column, "the column that holds the id")->type_name("COLUMN");
  command->add_option("--format", options->format, "auto, jsonl, csv, tsv or recbole")
      ->capture_default_str()
      ->type_name("NAME");
  command->add_option("--separator", options->separator, "between the columns of CSV (\\t: a tab)")
      ->type_name("CHAR");
  if (kind == RowKind::kItem) {
    command->add_flag("--update", options->update,
                      "rows hold some fields of items that are there; their other fields stay");
  }
  command->add_flag("--strict", options->strict, "stop at the first row that is refused");
  command->add_option("--skip-lines", options->skip_lines, "go on after this line of the first file")
      ->check(ZeroOrMore())
      ->type_name("N");
  command->callback([=] { *run = [options, kind] { return RunImport(*options, kind); }; });
}

}  // namespace
}  // namespace import_command

void AddImport(CLI::App* app, Run* run) {
  using namespace import_command;
  CLI::App* group = AddCommandGroup(app, "import", "Read items, users or events from files",
                                    "  waymark import items movies.csv --data DIR --id-column movieId "
                                    "--map 'genres=genres:split(|)'");
  AddKind(group, run, "items", RowKind::kItem, "Read items; an item that is there is replaced",
          "  waymark import items movies.csv --data DIR --id-column movieId --map 'genres=genres:split(|)'\n"
          "  waymark import items - --data DIR < items.jsonl\n"
          "  waymark import items prices.csv --data DIR --update");
  AddKind(group, run, "users", RowKind::kUser, "Read users with their attributes",
          "  waymark import users users.csv --data DIR --id-column user_id --map age=age:integer");
  AddKind(group, run, "events", RowKind::kEvent, "Read what users did, as history",
          "  waymark import events ratings.csv.gz --data DIR --set type=rating --map user_id=userId "
          "--map item_id=movieId --map value=rating --map time=timestamp");
}

}  // namespace waymark
